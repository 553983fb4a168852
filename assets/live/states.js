// Certificates: for each its state in a word and a sign, its bound beside what it bounds, and both over the steps.

import { counted, number, share, whole } from "./dom.js";
import { HeldRange, LinearScale, LogScale, niceSteps } from "./scale.js";
import { armStyle, prepare } from "./theme.js";

const WORDS = ["holds", "violated", "does not apply", "stale", "not computed"];
const BOUND = 0, MEASURED = 1, STATE = 2, REASON = 3, SHARE = 4;
const FEW = 4;  // readings that are dots, since so few make no line
const LEFT = 46, RIGHT = 10, HEAD = 36, FOOT = 20, LETTERS = 12;

export class States {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, held: new HeldRange(true), note: "", legend: null, places: [], lines_: [] }); }

  // What is said of certificate `row` at a frame, for one layer and head.
  read(frame, row, layer, head) {
    const l = Math.min(layer, frame.layers - 1), h = Math.min(head, frame.heads - 1);
    const part = (p) => frame.values[((p * frame.layers + l) * frame.heads + h) * frame.rows + row];
    return { bound: part(BOUND), measured: part(MEASURED), state: part(STATE), reason: part(REASON), share: part(SHARE) };
  }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font), { theme, model } = view, { arm, layer, head } = model.selection;
    const frame = model.frameAt("table", this.panel.reading, view.until()), meta = model.meta(this.panel.reading, arm);
    this.said = [];
    this.places = [];
    if (!frame || !meta?.names || width < 60) return;
    const frames = model.framesOf("table", this.panel.reading).filter(({ step }) => step <= view.until());
    const [x0, x1] = view.zoom || [0, niceSteps(view.replay ? model.hello.steps : model.step, model.hello.steps)];
    const all = meta.names.map((_, row) => frames.map((f) => ({ step: f.step, ...this.read(f, row, layer, head) })));
    const range = this.held.hold(...(model.scales[this.panel.reading]?.range || [Infinity, -Infinity])), tall = (height - FOOT) / meta.names.length;
    const x = new LinearScale(x0, x1, LEFT, width - RIGHT), colour = armStyle(theme, arm).colour;
    meta.names.forEach((name, row) => {
      const top = row * tall, now = this.read(frame, row, layer, head), word = WORDS[now.state] || WORDS[4];
      const reason = now.reason >= 0 ? meta.reasons[now.reason] : "", claim = now.state < 2 ? `κ(J) ${number(now.measured)} ${now.state === 0 ? "≤" : ">"} ${number(now.bound)}` : "";
      sign(context, theme, now.state, 9, top + 10, 6);
      context.textBaseline = "middle";
      context.textAlign = "left";
      context.fillStyle = theme.text;
      context.fillText(`${name}: ${word}`, 22, top + 10);
      context.textAlign = "right";
      context.fillText(claim, width - RIGHT, top + 10);
      context.textAlign = "left";
      context.fillStyle = theme.faint;
      const under = reason || (now.share < 1 ? `applies to ${share(now.share)} of the samples` : "applies to every sample");
      context.fillText(fitted(context, under, width - 32), 22, top + 25);
      this.plot(context, theme, colour, all[row], x, new LogScale(...range, top + tall - 8, top + HEAD + 6), width);
      this.said.push([name, word, [claim, under].filter(Boolean).join("; ")]);
      this.places.push({ x: 22, y: top + 10, top, bottom: top + tall, label: `${name}: ${word}`, group: `${meta.statements[row]}${reason ? ` · ${reason}` : ""}` });
    });
    context.fillStyle = theme.faint;
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const tick of x.ticks((width - LEFT) / 74)) if (Number.isInteger(tick.value)) context.fillText(tick.label, Math.min(x.place(tick.value), width - 18), height - FOOT + 5);
    this.note = `read at step ${whole(frame.step)} · filled and line: measured, hollow and dots: bound${this.others(frame, meta)}`;
  }

  plot(context, theme, colour, points, x, y, width) {
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const ticks = y.ticks(Math.max(1, (y.from - y.to) / 26)), few = ticks.filter(({ major }) => major).length < 2;
    let named = Infinity;  // where the label below stands
    for (const tick of ticks) {
      const at = Math.round(y.place(tick.value)) + 0.5;
      context.strokeStyle = theme.grid;
      if (tick.major) { context.beginPath(); context.moveTo(LEFT, at); context.lineTo(width - RIGHT, at); context.stroke(); }
      if (!tick.label || !(tick.major || few) || named - at < LETTERS) continue;
      context.fillText(tick.label, LEFT - 6, at);
      named = at;
    }
    for (const [part, dash] of [["measured", []], ["bound", [1.5, 3]]]) {
      context.strokeStyle = colour;
      context.lineWidth = part === "bound" ? 1.4 : 2;
      context.setLineDash(dash);
      context.beginPath();
      let pen = false;
      for (const point of points) {
        if (!(point[part] > 0) || !Number.isFinite(point[part])) { pen = false; continue; }
        context[pen ? "lineTo" : "moveTo"](x.place(point.step), y.place(point[part]));
        pen = true;
      }
      context.stroke();
      context.setLineDash([]);
      for (const point of points.length < FEW ? points : []) {
        if (!(point[part] > 0) || !Number.isFinite(point[part])) continue;
        context.beginPath();
        context.arc(x.place(point.step), y.place(point[part]), 3, 0, 2 * Math.PI);
        context.fillStyle = part === "bound" ? theme.paper : colour;
        context.fill();
        context.stroke();
      }
    }
    context.setLineDash([]);
    // A sign at each reading, where there is room: the states over time.
    let before = -99;
    for (const point of points) {
      const at = x.place(point.step);
      if (at - before < 13 || at < LEFT || at > width - RIGHT + 1) continue;
      before = at;
      sign(context, theme, point.state, at, y.from + 2, 3.6);
    }
  }

  // How the heads stand that are not chosen.
  others(frame, meta) {
    const counts = new Map();
    for (let row = 0; row < meta.names.length; row++) for (let l = 0; l < frame.layers; l++) for (let h = 0; h < frame.heads; h++) {
      const word = WORDS[this.read(frame, row, l, h).state];
      counts.set(word, (counts.get(word) || 0) + 1);
    }
    return frame.layers * frame.heads > 1 ? ` · ${counted(frame.rows, "bound")} of all heads: ${[...counts].map(([word, n]) => `${n} ${word}`).join(", ")}` : "";
  }

  at(x, y) { const found = this.places.find((place) => y >= place.top && y < place.bottom); return found ? { ...found, x, y } : null; }

  table() { return this.said || []; }
}

// A sign for each state: a tick, a cross, a dash, a clock's hand, an empty ring; never colour alone.
function sign(context, theme, state, x, y, r) {
  context.lineWidth = r > 5 ? 2 : 1.5;
  context.strokeStyle = context.fillStyle = [theme.good, theme.alarm, theme.faint, theme.accent, theme.faint][state] || theme.faint;
  context.beginPath();
  if (state === 0) { context.moveTo(x - r, y); context.lineTo(x - r / 4, y + r * 0.75); context.lineTo(x + r, y - r * 0.8); }
  else if (state === 1) { context.moveTo(x - r * 0.8, y - r * 0.8); context.lineTo(x + r * 0.8, y + r * 0.8); context.moveTo(x + r * 0.8, y - r * 0.8); context.lineTo(x - r * 0.8, y + r * 0.8); }
  else if (state === 2) { context.moveTo(x - r, y); context.lineTo(x + r, y); }
  else { context.arc(x, y, r * 0.85, 0, 2 * Math.PI); if (state === 3) { context.moveTo(x, y - r * 0.6); context.lineTo(x, y); context.lineTo(x + r * 0.5, y); } }
  context.stroke();
}

function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let cut = text.length;
  while (cut > 4 && context.measureText(`${text.slice(0, cut)}…`).width > width) cut--;
  return `${text.slice(0, cut)}…`;
}
