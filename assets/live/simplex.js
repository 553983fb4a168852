// Answers as points of the probability simplex: a line for two classes, a triangle for three, a circle of corners for more.

import { share } from "./dom.js";
import { marker, prepare } from "./theme.js";

export class Simplex {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, places: [], note: "", legend: [] }); }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font);
    const { pictures } = view, meta = pictures.meta(this.panel);
    const frame = view.model.frameAt("numbers", this.panel.reading, view.until());
    this.places = [];
    if (!meta || !frame || width < 60) return;
    const { theme } = view, n = meta.class_labels.length, looks = pictures.look(frame, meta), own = pictures.ownLook(frame, meta);
    const put = n === 2 ? this.segment(context, theme, meta, width, height) : this.corners(context, theme, meta, width, height);
    const marked = pictures.marked(meta);
    let right = 0, spare = 0;
    looks.forEach((look, i) => {
      const of = meta.classes[i];
      right += look.p.indexOf(Math.max(...look.p)) === of;
      spare = Math.max(spare, look.p.slice(n).reduce((a, b) => a + b, 0));
      this.dot(context, theme, put(look.p, of, i), ["circle", "square", "triangle-up", "diamond"][of % 4], theme.groups[of % theme.groups.length], `sequence:${i}`, look, meta, marked);
    });
    if (own) this.dot(context, theme, put(own.p, -1, 0), "star", theme.text, "sequence:own", own, meta, marked);
    this.note = `${right} of ${looks.length} right${spare > 0.005 ? ` · up to ${share(spare)} on spare embeddings` : ""}`;
    this.legend = meta.class_labels.map((label, c) => ({ name: `class ${label}`, colour: theme.groups[c % theme.groups.length], shape: ["●", "■", "▲", "◆"][c % 4] }));
  }

  dot(context, theme, [x, y], shape, colour, key, look, meta, marked) {
    if (!Number.isFinite(x + y)) return;
    context.globalAlpha = marked && !marked.has(key) ? 0.25 : 0.85;
    context.fillStyle = colour;
    context.strokeStyle = theme.background;
    context.lineWidth = 1;
    marker(context, shape, x, y, key === "sequence:own" ? 7 : marked?.has(key) ? 5.5 : 4);
    context.fill();
    context.stroke();
    context.globalAlpha = 1;
    const best = look.p.indexOf(Math.max(...look.p));
    this.places.push({ x, y, key, label: look.sequence.map((t) => meta.token_labels[t]).join(" "), group: `p(${meta.class_labels[best] ?? "spare"}) = ${look.p[best].toFixed(3)}` });
  }

  // Two classes: one line per true class, dots spread a little so that none hides another.
  segment(context, theme, meta, width, height) {
    const left = 58, right = width - 20, rows = [0.3, 0.7].map((part) => 10 + part * (height - 40));
    context.strokeStyle = theme.axis;
    context.fillStyle = theme.faint;
    context.textBaseline = "middle";
    rows.forEach((y, c) => {
      context.beginPath();
      context.moveTo(left, y);
      context.lineTo(right, y);
      context.stroke();
      context.textAlign = "right";
      context.fillText(`class ${meta.class_labels[c]}`.slice(0, 9), left - 6, y);
    });
    context.textAlign = "center";
    for (const p of [0, 0.25, 0.5, 0.75, 1]) {
      const x = left + p * (right - left);
      context.strokeStyle = p === 0.5 ? theme.axis : theme.grid;
      context.beginPath();
      context.moveTo(x, 8);
      context.lineTo(x, height - 30);
      context.stroke();
      context.fillText(String(p), x, height - 22);
    }
    context.fillText(`p(${meta.class_labels[1]})`, (left + right) / 2, height - 8);
    const spread = (i) => (((i * 0.618034) % 1) - 0.5) * Math.min(40, height * 0.2);
    return (p, of, i) => [left + p[1] * (right - left), of < 0 ? (rows[0] + rows[1]) / 2 : rows[of] + spread(i)];
  }

  corners(context, theme, meta, width, height) {
    const n = meta.class_labels.length, r = Math.min(width, height) / 2 - 18, cx = width / 2, cy = height / 2 + (n === 3 ? r * 0.18 : 0);
    const corner = meta.class_labels.map((_, c) => { const turn = -Math.PI / 2 + (2 * Math.PI * c) / n; return [cx + r * Math.cos(turn), cy + r * Math.sin(turn)]; });
    context.strokeStyle = theme.axis;
    context.beginPath();
    corner.forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](x, y));
    context.closePath();
    context.stroke();
    context.fillStyle = theme.faint;
    context.textAlign = "center";
    context.textBaseline = "middle";
    corner.forEach(([x, y], c) => context.fillText(meta.class_labels[c], cx + (x - cx) * (1 + 10 / r), cy + (y - cy) * (1 + 10 / r)));
    return (p) => corner.reduce(([x, y], [a, b], c) => [x + p[c] * a, y + p[c] * b], [0, 0]);
  }

  at(x, y) {
    let best = null, least = 150;
    for (const p of this.places) { const d = (p.x - x) ** 2 + (p.y - y) ** 2; if (d < least) { least = d; best = p; } }
    return best;
  }

  table() { return this.places.slice(0, 40).map((p) => [p.label, p.group, ""]); }
}
