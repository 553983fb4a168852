// Attention rows of the visual model: one row per probe sequence, sorted by class, tokens written where there is room.

import { number } from "./dom.js";
import { markedKey, placeOf } from "./marks.js";
import { prepare, rampPicture } from "./theme.js";

const LEAST_MOST = 0.05;

export class Rows {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, box: null, cell: null, note: "", legend: [] }); }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font);
    const { pictures } = view, meta = pictures.meta(this.panel);
    const frame = view.model.frameAt("numbers", this.panel.reading, view.until());
    if (!meta || !frame || width < 60) return;
    const { theme } = view, seen = pictures.look(frame, meta), own = pictures.ownLook(frame, meta);
    const order = this.order(meta), keys = meta.tokens[0].length;
    const list = [...(own ? [{ look: own, key: "sequence:own" }] : []), ...order.map((i) => ({ look: seen[i], key: `sequence:${i}`, of: meta.classes[i] }))];
    const left = 40, top = 16, w = (width - left - 46) / keys, h = (height - top - 6) / list.length;
    this.box = { left, top, w, h, keys, list, meta };
    const most = Math.max(LEAST_MOST, view.model.scales[this.panel.reading]?.range?.[1] ?? 0), marked = pictures.marked(meta);
    list.forEach(({ look, key }, r) => {
      look.row.forEach((a, t) => {
        const shade = 3 * Math.min(255, Math.round((255 * a) / most));
        context.globalAlpha = marked && !marked.has(key) ? 0.35 : 1;
        context.fillStyle = Number.isFinite(a) ? `rgb(${theme.ramp[shade]},${theme.ramp[shade + 1]},${theme.ramp[shade + 2]})` : theme.axis;
        context.fillRect(left + t * w, top + r * h, Math.ceil(w), h > 3 ? h - 0.5 : h + 0.3);
        if (h < 11) return;
        context.fillStyle = a / most > 0.55 ? theme.background : theme.text;
        context.textAlign = "center";
        context.textBaseline = "middle";
        context.fillText(meta.token_labels[look.sequence[t]], left + (t + 0.5) * w, top + (r + 0.5) * h);
      });
    });
    context.globalAlpha = 1;
    this.frame(context, theme, meta, list, most, height);
    const place = placeOf(markedKey(view));
    if (place !== null && place < keys) {
      context.strokeStyle = theme.accent;
      context.lineWidth = 1.5;
      context.strokeRect(left + place * w, top - 3, w, h * list.length + 6);
    }
    this.note = `${meta.tokens.length} sequences by class · strongest ${number(most, 2)}`;
  }

  frame(context, theme, meta, list, most, height) {
    const { left, top, w, h, keys } = this.box;
    context.fillStyle = theme.faint;
    context.textBaseline = "middle";
    context.textAlign = "center";
    const every = Math.max(1, Math.ceil(14 / w));
    for (let t = 0; t < keys; t += every) context.fillText(String(t + 1), left + (t + 0.5) * w, 7);
    context.textAlign = "right";
    meta.class_labels.forEach((label, c) => {
      const rows = list.map((row, r) => (row.of === c ? r : -1)).filter((r) => r >= 0);
      if (!rows.length) return;
      context.fillText(`class ${label}`.slice(0, 8), left - 4, top + ((rows[0] + rows[rows.length - 1] + 1) / 2) * h);
      if (rows[0] > 0) this.line(context, theme.background, left, top + rows[0] * h, left + keys * w, top + rows[0] * h, 2);
    });
    if (list[0]?.key === "sequence:own") context.fillText("yours", left - 4, top + h / 2);
    if (meta.n_prefix) this.line(context, theme.accent, left + meta.n_prefix * w, top - 2, left + meta.n_prefix * w, top + list.length * h, 1.5);
    const x = left + keys * w + 12, tall = Math.min(height - top - 8, list.length * h);
    context.drawImage(rampPicture(theme.ramp), x, top, 7, tall);
    context.fillStyle = theme.faint;
    context.textAlign = "left";
    context.fillText(number(most, 2), x + 10, top + 4);
    context.fillText("0", x + 10, top + tall - 4);
  }

  line(context, colour, x1, y1, x2, y2, width) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  }

  order(meta) {
    if (this.ordered?.meta !== meta) {
      const ones = (i) => meta.tokens[i].reduce((a, b) => a + b, 0);
      this.ordered = { meta, rows: meta.tokens.map((_, i) => i).sort((a, b) => meta.classes[a] - meta.classes[b] || ones(a) - ones(b)) };
    }
    return this.ordered.rows;
  }

  at(x, y) {
    if (!this.box) return null;
    const { left, top, w, h, keys, list, meta } = this.box, r = Math.floor((y - top) / h), t = Math.floor((x - left) / w);
    if (!list[r] || t < 0 || t >= keys) return null;
    const { look, key } = list[r];
    return { x, y, key, label: look.sequence.map((token) => meta.token_labels[token]).join(" "), group: `position ${t + 1}: ${number(look.row[t])}` };
  }

  table() {
    if (!this.box) return [];
    const { list, keys } = this.box;
    return Array.from({ length: keys }, (_, t) => [`position ${t + 1}`, number(list.reduce((s, { look }) => s + look.row[t], 0) / list.length), "mean attention"]);
  }
}
