// Spectra over the steps: every singular value of one matrix a thin line, the largest and the smallest thick.

import { number, whole } from "./dom.js";
import { HeldRange, LinearScale, LogScale, niceSteps } from "./scale.js";
import { stroke, window_ } from "./strokes.js";
import { armStyle, prepare } from "./theme.js";

const LEFT = 46, RIGHT = 10, TOP = 18, BOTTOM = 22, NEAR = 12;
const MATRICES = { W_Q: "query", W_K: "key", W_V: "value" }, ENDS = ["largest", "smallest"];
const GHOST = 0.5;

export class Spectra {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, column: 0, held: new HeldRange(true), note: "", places: [], past: [], legend: null }); }

  columns(view) { return view.model.meta(this.panel.reading, view.model.selection.arm)?.column_labels || []; }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font), { theme } = view;
    const frames = view.model.framesOf("table", this.panel.reading), meta = view.model.meta(this.panel.reading, view.model.selection.arm);
    this.frames = null;
    if (!frames.length || !meta?.column_labels || width < 60) return;
    const column = Math.min(this.column, frames[0].columns - 1), until = view.until(), of = (frame, rank) => frame.values[rank * frame.columns + column];
    const shown = frames.filter(({ step }) => step <= until && (!view.zoom || (step >= view.zoom[0] && step <= view.zoom[1])));
    const [x0, x1] = view.zoom || [0, niceSteps(view.replay ? view.model.hello.steps : view.model.step, view.model.hello.steps)];
    // The range holds for all arms, heads, matrices and steps, so that choosing another moves no axis.
    const ghosts = this.ghosts(view, meta.column_labels[column]), past = ghosts.flatMap(({ values, series }) => [...values.subarray(0, series.n)].filter((v) => v > 0 && Number.isFinite(v)));
    const reach = view.model.scales[this.panel.reading]?.range || [Infinity, -Infinity];
    const [low, high] = this.held.hold(Math.min(reach[0], ...past), Math.max(reach[1], ...past));
    const x = new LinearScale(x0, x1, LEFT, width - RIGHT), y = new LogScale(low, high, height - BOTTOM, TOP);
    Object.assign(this, { frames: shown, x, y, of, rows: frames[0].rows, name: meta.column_labels[column], labels: meta.row_labels });
    this.axes(context, theme, width, height);
    const style = armStyle(theme, view.model.selection.arm), { rows } = this;
    let lost = 0;
    context.strokeStyle = style.colour;
    for (const ghost of ghosts) this.ghost(context, ghost, x0, x1);
    this.past = ghosts;
    for (let rank = 0; rank < rows; rank++) {
      const edge = rank === 0 || rank === rows - 1;
      context.globalAlpha = edge ? 1 : 0.42;
      context.lineWidth = edge ? 2 : 0.9;
      context.beginPath();
      let pen = false;
      for (const frame of shown) {
        const v = of(frame, rank);
        if (!(v > 0) || !Number.isFinite(v)) { pen = false; lost++; continue; }
        context[pen ? "lineTo" : "moveTo"](x.place(frame.step), y.place(v));
        pen = true;
      }
      context.stroke();
    }
    context.globalAlpha = 1;
    if (!view.replay && view.viewing !== null) this.playhead(context, theme, x.place(view.viewing), height);
    const last = shown[shown.length - 1];
    this.legend = ghosts.length ? [{ name: `dashed: largest and smallest of ${view.ghost.who}`, colour: style.colour, shape: "╌" }] : null;
    this.note = last ? `${this.name} at step ${whole(last.step)}: ${rows} values, ${number(of(last, 0))} to ${number(of(last, rows - 1))}${lost ? ` · ${lost} at 0 or not finite, not drawn` : ""}` : "";
  }

  // Columns of the parent's that are drawn beside the spectra: the ends of each, which were read for curves.
  beside() { return Object.values(MATRICES).flatMap((matrix) => ENDS.map((end) => `singular values/${matrix} ${end}`)); }

  // The parent's largest and smallest value of a matrix, of the chosen arm, seed and head.
  ghosts(view, name) {
    const { arm, seed } = view.model.selection, matrix = MATRICES[name];
    return matrix ? ENDS.map((end) => ({ end, series: view.ghost.beside(`singular values/${matrix} ${end}`, arm) })).filter(({ series }) => series).map((one) => ({ ...one, name, who: view.ghost.who, values: one.series.seeds[seed] || one.series.mean })) : [];
  }

  ghost(context, { series, values }, x0, x1) {
    const [from, end] = window_(series, x0, x1);
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, this.x.to - LEFT, this.y.from);
    context.clip();
    context.globalAlpha = GHOST;
    context.lineWidth = 1.3;
    context.setLineDash([5, 4]);
    if (end > from) stroke(context, series.steps, values, from, end, this.x, this.y, (v) => v > 0 && Number.isFinite(v));
    context.restore();
  }

  axes(context, theme, width, height) {
    const bottom = height - BOTTOM;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const tick of this.y.ticks((bottom - TOP) / 34)) {
      const at = Math.round(this.y.place(tick.value)) + 0.5;
      context.strokeStyle = theme.grid;
      if (tick.major) this.line(context, LEFT, at, width - RIGHT, at);
      context.fillStyle = theme.faint;
      if (tick.label) context.fillText(tick.label, LEFT - 6, at);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of this.x.ticks((width - RIGHT - LEFT) / 74)) if (Number.isInteger(tick.value)) context.fillText(tick.label, Math.min(this.x.place(tick.value), width - RIGHT - 8), bottom + 6);
    context.strokeStyle = theme.axis;
    this.line(context, LEFT, bottom + 0.5, width - RIGHT, bottom + 0.5);
    context.textAlign = "left";
    context.fillText(this.panel.unit, 2, 2);
  }

  playhead(context, theme, at, height) {
    context.strokeStyle = theme.accent;
    context.lineWidth = 1;
    this.line(context, Math.round(at) + 0.5, TOP, Math.round(at) + 0.5, height - BOTTOM);
  }

  line(context, x1, y1, x2, y2) {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  }

  at(x, y) {
    if (!this.frames?.length) return null;
    const frame = this.frames.reduce((a, b) => (Math.abs(this.x.place(b.step) - x) < Math.abs(this.x.place(a.step) - x) ? b : a));
    let best = null, least = NEAR;
    for (let rank = 0; rank < this.rows; rank++) {
      const value = this.of(frame, rank), apart = Math.abs(this.y.place(value) - y);
      if (apart < least) { least = apart; best = { x: this.x.place(frame.step), y: this.y.place(value), label: `${this.labels[rank]} of ${this.name}: ${number(value)}`, group: `step ${whole(frame.step)}, of ${this.rows}` }; }
    }
    for (const { series, values, end, name, who } of this.past) {
      const i = series.near(this.x.value(x), Infinity), apart = i < 0 ? NEAR : Math.abs(this.y.place(values[i]) - y);
      if (apart < least) { least = apart; best = { x: this.x.place(series.steps[i]), y: this.y.place(values[i]), label: `${end} of ${name}, ${who}: ${number(values[i])}`, group: `step ${whole(series.steps[i])}` }; }
    }
    return best;
  }

  table() {
    const last = this.frames?.[this.frames.length - 1];
    if (!last) return [];
    const own = this.labels.map((label, rank) => [`${label} of ${this.name}`, number(this.of(last, rank)), `step ${last.step}`]);
    return [...own, ...this.past.map(({ series, values, end, name, who }) => {
      const i = Math.max(0, series.at(last.step));
      return [`${end} of ${name}, ${who}`, number(values[i]), `step ${series.steps[i]}`];
    })];
  }
}
