// A chart over steps: thin seeds, thick mean, band from least to greatest; arms told apart by colour, dash and marker.

import { counted, whole } from "./dom.js";
import { Grown } from "./grown.js";
import { writeLabels } from "./labels.js";
import { HeldRange, LinearScale, LogScale, niceSteps } from "./scale.js";
import { mean, REACHES } from "./smooth.js";
import { band, beyond, cross, line, stroke, survey, window_ } from "./strokes.js";
import { armStyle, marker, prepare } from "./theme.js";

const LEFT = 46, RIGHT = 10, TOP = 20, BOTTOM = 22, RAIL = 14;
const MARK = 6;  // pixels that a marker reaches from its point
const ALIKE = 4;  // pixels: reference lines hardly apart share a label

export class Curves {
  constructor(panel, canvas) {
    Object.assign(this, { panel, canvas, area: null, log: panel.log, smoothed: 0, labels: new Map(), unwritten: [], grown: new Grown() });
    this.held = new HeldRange(this.log, panel.bounds);
    this.shown = new Set(panel.curves.filter((c) => c.on).map((c) => c.column));
    this.ranged = "";
  }

  // Accuracies and brackets are never smoothed: a threshold is reached by a number, and a mean of bounds bounds nothing.
  get smoothable() { return this.panel.lines !== "accuracy" && !this.panel.curves.some(({ to }) => to); }

  get smoothing() { return this.smoothed && this.smoothable ? `mean of ${2 * REACHES[this.smoothed] + 1} points, raw behind` : ""; }

  scaleBy(log) {
    this.log = log;
    this.held = new HeldRange(log, log ? null : this.panel.bounds);
  }

  // Every line to draw: curve, arm, its series, and the bracket's other end where there is one.
  lines(view) {
    const found = [];
    for (const curve of this.panel.curves) {
      if (!this.shown.has(curve.column)) continue;
      view.model.hello.arms.forEach((name, arm) => {
        const series = view.hidden.has(arm) ? null : view.model.get(curve.column, arm);
        if (series?.n) found.push({ curve, arm, name, series, to: curve.to ? view.model.get(curve.to, arm) : null });
      });
    }
    return found;
  }

  reference(view) {
    // A level that is no finite number comes as null: there is nothing to draw.
    return Object.entries((this.panel.lines && view.model.hello.lines[this.panel.lines]) || {}).filter(([, level]) => level !== null);
  }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font);
    if (width < 60 || height < 50) return;
    const lines = this.lines(view), until = view.until();
    const [x0, x1] = view.zoom || [0, niceSteps(view.replay ? view.model.hello.steps : view.model.step, view.model.hello.steps)];
    const ghosts = view.ghost.lines(this.panel.curves, this.shown), past = survey(ghosts, x0, x1, this.log, Infinity);
    const facts = survey(lines, x0, x1, this.log, until);
    const wants = `${view.zoom || ""}/${[...this.shown]}`;
    if (wants !== this.ranged) { this.held.reset(); this.ranged = wants; }
    const levels = this.reference(view).map(([, level]) => level).filter((level) => !this.log || level > 0);
    const rail = facts.below ? RAIL : 0, roof = facts.above ? RAIL : 0;
    const [low, high] = this.held.hold(Math.min(facts.low, past.low, ...levels), Math.max(facts.high, past.high, ...levels));
    const bottom = height - BOTTOM - rail, top = TOP + roof;
    const x = new LinearScale(x0, x1, LEFT, width - RIGHT);
    const y = new (this.log ? LogScale : LinearScale)(low, high, bottom, top);
    this.area = { x, y, top, bottom, left: LEFT, right: width - RIGHT, height, width };
    const { theme } = view;
    this.axes(context, theme, x, y, rail, roof, facts);
    context.save();
    context.beginPath();
    const inside = [LEFT - 1, 0, Math.round(width) - RIGHT - LEFT + 6, Math.round(height) - BOTTOM + 4];
    context.rect(...inside);  // whole pixels: a clip that parts them makes every line dear
    context.clip();
    const words = this.levels(context, theme, view, y);  // beneath the curves
    for (const ghost of ghosts) this.ghost(context, theme, view, ghost, x0, x1);
    if (until === Infinity && !view.replay && !this.smoothing) this.grow(context, theme, lines, [width, height, rail, roof, x0, x1, low, high, this.log, theme], inside);
    else {
      this.grown.forget();
      for (const line of lines) this.line(context, theme, line, x0, x1, until);
    }
    // What stands at the edge is whole.
    context.restore();
    context.save();
    context.beginPath();
    context.rect(LEFT - MARK, 0, Math.round(width) - RIGHT - LEFT + 2 * MARK, Math.round(height) - BOTTOM + MARK);
    context.clip();
    for (const line of lines) this.marks(context, theme, line, x0, x1, until, rail, roof);
    this.unwritten = writeLabels(context, theme, words, lines, this.area, until, this.labels);
    context.restore();
    this.playhead(context, theme, view, x);
  }

  // Live, only what is new is drawn: lines of many seeds cost more than all the rest. Dashes go on from their start.
  grow(context, theme, lines, key, [left, top, wide, tall]) {
    const { x } = this.area, whole = lines.filter(({ curve }) => curve.style === "solid"), others = lines.filter((line) => !whole.includes(line));
    const shape = (own) => {
      own.setTransform(context.getTransform());
      own.beginPath();
      own.rect(left, top, wide, tall);
      own.clip();
    };
    this.grown.draw(context, key, whole, shape, (own, line, first) => this.line(own, theme, line, x.low, x.high, Infinity, first));
    for (const line of others) this.line(context, theme, line, x.low, x.high, Infinity);
  }

  axes(context, theme, x, y, rail, roof, facts) {
    const { left, right, top, bottom, height } = this.area;
    context.lineWidth = 1;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const tick of y.ticks((bottom - top) / 34)) {
      const at = Math.round(y.place(tick.value)) + 0.5;
      context.strokeStyle = theme.grid;
      if (tick.major) line(context, left, at, right, at);
      context.fillStyle = theme.faint;
      if (tick.label) context.fillText(tick.label, left - 6, at);
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of x.ticks((right - left) / 74)) {
      const at = Math.round(x.place(tick.value)) + 0.5;
      if (!Number.isInteger(tick.value)) continue;
      context.fillStyle = theme.faint;
      context.fillText(tick.label, Math.min(at, right - 8), height - BOTTOM + 6);
      context.strokeStyle = theme.axis;
      line(context, at, height - BOTTOM, at, height - BOTTOM + 3);
    }
    context.strokeStyle = theme.axis;
    line(context, left, height - BOTTOM + 0.5, right, height - BOTTOM + 0.5);
    context.fillStyle = theme.faint;
    context.textAlign = "left";
    context.fillText(this.panel.unit, 2, 2);
    context.fillText("step", 2, height - BOTTOM + 6);
    context.textAlign = "right";
    const least = this.log ? "≤ 0" : "at −∞", told = [[facts.below, least], [facts.above, "at ∞"], [facts.nan, "NaN"]].filter(([n]) => n);
    context.fillText(told.map(([n, where]) => `${counted(n, "point")} ${where}`).join(", "), right, 2);
    context.textBaseline = "middle";
    for (const [there, at, text] of [[rail, bottom + RAIL / 2, this.log ? "≤ 0" : "−∞"], [roof, TOP + 5, "∞"]]) {
      if (!there) continue;
      context.textAlign = "right";
      context.fillText(text, left - 6, at);
      context.setLineDash([1, 3]);
      line(context, left, at, right, at);
      context.setLineDash([]);
    }
  }

  levels(context, theme, view, y) {
    const { left, right, top, bottom } = this.area;
    const words = [];
    for (const [label, level] of this.reference(view).sort((a, b) => a[1] - b[1])) {
      const at = Math.round(y.place(level)) + 0.5;
      if (!(at >= top - 1 && at <= bottom + 1)) continue;
      context.strokeStyle = theme.reference;
      context.setLineDash([3, 4]);
      line(context, left, at, right, at);
      context.setLineDash([]);
      // A label stands beside its own line; lines hardly apart share one.
      const below = words[words.length - 1];
      if (below && below.base - at <= ALIKE) below.text = `${below.text} · ${label}`;
      else words.push({ text: label, base: at });
    }
    context.lineWidth = 1;
    return words;
  }

  line(context, theme, { curve, arm, series, to }, x0, x1, until, first = 0) {
    const style = armStyle(theme, arm);
    const { x, y } = this.area;
    const [start, end] = window_(series, x0, x1, until), from = Math.max(start, first);
    if (end <= from) return;
    const drawn = (v) => (y.log ? v > 0 : true) && Number.isFinite(v);
    context.strokeStyle = context.fillStyle = style.colour;
    const soft = curve.style !== "solid";
    if ((to && to.n === series.n) || (series.seeds.length > 1 && curve.seeds)) {
      const upper = to && to.n === series.n ? to.mean : series.high;
      const lower = to && to.n === series.n ? series.mean : series.low;
      context.globalAlpha = to ? 0.2 : 0.07;
      band(context, series.steps, lower, upper, from, end, x, y, drawn);
      if (series.fewer) {  // dashed ends where fewer seeds stand behind the band
        context.globalAlpha = 0.5;
        context.lineWidth = 1;
        context.setLineDash([2, 4]);
        for (const edge of [lower, upper]) stroke(context, series.steps, edge, from, end, x, y, drawn, (i) => series.count[i] < series.most);
        context.setLineDash([]);
      }
    }
    if (curve.seeds && series.seeds.length > 1) {
      context.globalAlpha = 0.38;
      context.lineWidth = 0.8;
      for (const values of series.seeds) stroke(context, series.steps, values, from, end, x, y, drawn);
    }
    const reach = this.smoothable ? REACHES[this.smoothed] : 0;
    if (reach) {  // the raw mean stays in sight
      context.globalAlpha = 0.4;
      context.lineWidth = 1;
      stroke(context, series.steps, series.mean, from, end, x, y, drawn);
    }
    const values = reach ? mean(series.mean, series.n, reach) : series.mean, full = (i) => series.count[i] === series.most;
    context.globalAlpha = soft ? 0.8 : 1;
    context.lineWidth = soft ? 1.3 : 2.2;
    context.setLineDash({ dashed: [5, 4], dotted: [1.5, 3] }[curve.style] || []);
    stroke(context, series.steps, values, from, end, x, y, drawn, full);
    if (series.fewer) {  // a mean of fewer seeds than before must not look the same
      context.lineWidth = 1.3;
      context.setLineDash([1.5, 3]);
      stroke(context, series.steps, values, from, end, x, y, drawn, (i) => !full(i));
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  // The arm's marker at the line's end, NaN as a cross at the last finite value, what a log axis cannot hold on its rail.
  marks(context, theme, { curve, arm, series }, x0, x1, until, rail, roof) {
    const style = armStyle(theme, arm);
    const { x, y, bottom } = this.area;
    const [from, end] = window_(series, x0, x1, until);
    if (end <= from) return;
    context.strokeStyle = context.fillStyle = style.colour;
    if (curve.style === "solid") {
      const spacing = Math.max(1, Math.floor((end - from) / 3));
      for (let i = end - 1, k = 0; i >= from && k < 4; i -= spacing, k++) {
        const v = series.mean[i];
        if (!Number.isFinite(v) || (y.log && v <= 0) || series.steps[i] < x0) continue;
        marker(context, style.marker, x.place(series.steps[i]), y.place(v), k ? 2.6 : 3.6);
        context.fill();
        context.strokeStyle = theme.background;
        context.lineWidth = 1;
        context.stroke();
        context.strokeStyle = style.colour;
      }
    }
    context.lineWidth = 1.6;
    const lost = [];
    for (const values of curve.seeds ? series.seeds : []) {
      for (let i = Math.max(from, 1); i < end; i++) {
        if (Number.isNaN(values[i]) && Number.isFinite(values[i - 1])) {
          const px = x.place(series.steps[i - 1]), py = y.log && values[i - 1] <= 0 ? bottom : y.place(values[i - 1]);
          cross(context, px, py, 4);
          if (curve.style === "solid") lost.push({ px, py, step: series.steps[i] });
        }
      }
      if (!rail && !roof) continue;
      for (let i = from; i < end; i++) {
        const where = beyond(values[i], y.log);
        if (where !== "below" && where !== "above") continue;
        context.beginPath();
        context.arc(x.place(series.steps[i]), where === "below" ? bottom + RAIL / 2 : TOP + 5, 2.6, 0, 2 * Math.PI);
        context.stroke();
      }
    }
    // The first of them says it in words; the badge counts the others.
    const first = lost.sort((a, b) => a.step - b.step)[0];
    if (!first) return;
    const text = `NaN at step ${whole(first.step)}`, fits = first.px + 8 + context.measureText(text).width < this.area.right;
    context.textAlign = fits ? "left" : "right";
    context.textBaseline = "bottom";
    context.fillStyle = theme.text;
    context.fillText(text, first.px + (fits ? 7 : -7), first.py - 4);
  }

  ghost(context, theme, view, ghost, x0, x1) {
    const { series } = ghost, { x, y } = this.area, [from, end] = window_(series, x0, x1);
    if (end > from) view.ghost.draw(context, theme, ghost, (values) => stroke(context, series.steps, values, from, end, x, y, (v) => (y.log ? v > 0 : true) && Number.isFinite(v)));
  }

  playhead(context, theme, view, x) {
    const { top, bottom, left, right } = this.area;
    context.setLineDash([2, 3]);
    for (const step of view.ghost.marks()) {
      context.strokeStyle = theme.reference;
      context.lineWidth = 1;
      const at = Math.round(x.place(step)) + 0.5;
      if (step >= x.low && step <= x.high && at >= left && at <= right) line(context, at, top, at, bottom);
    }
    context.setLineDash([]);
    for (const [step, colour] of [[view.replay || view.viewing === null ? null : view.viewing, theme.accent], [view.hoverStep(), theme.axis]]) {
      if (step === null || step < x.low || step > x.high) continue;
      context.strokeStyle = colour;
      context.lineWidth = 1;
      const at = Math.round(x.place(step)) + 0.5;
      if (at >= left && at <= right) line(context, at, top, at, bottom);
    }
    if (view.brush && view.brush.chart === this) {
      const [a, b] = [view.brush.from, view.brush.to].sort((p, q) => p - q);
      context.fillStyle = theme.grid;
      context.fillRect(a, top, b - a, bottom - top);
      context.strokeStyle = theme.accent;
      context.strokeRect(a + 0.5, top + 0.5, b - a, bottom - top - 1);
    }
  }
}
