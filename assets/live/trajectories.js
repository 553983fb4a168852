// Points in the plane with their tails; one scale for both axes, the same for all arms and seeds of the run.

import { number, share } from "./dom.js";
import { markedKey, placeInWords, placeKey, placeOf } from "./marks.js";
import { prepare } from "./theme.js";

const TAIL_POINTS = 900;  // a tail is so long that all of them together have about this many corners
const LONGEST_LABEL = 24;

export class Trajectories {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, reading: panel.reading, hovered: -1, places: [] }); }

  choose([reading]) { Object.assign(this, { reading, hovered: -1 }); }

  frames(view) { return view.model.framesOf("points", this.reading); }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font);
    const frames = this.frames(view);
    const frame = view.model.frameAt("points", this.reading, view.until());
    const meta = view.model.meta(this.reading, view.model.selection.arm);
    const scale = view.model.scales[this.reading]?.points;
    if (!frame || !meta?.labels || !scale) return;
    const { theme } = view;
    Object.assign(this, scale);
    const size = Math.min(width - 4, height - 24), left = (width - size) / 2, top = 4;
    const [cx, cy] = this.centre, zoom = size / 2 / this.half;
    const put = (points, i) => [left + size / 2 + (points[2 * i] - cx) * zoom, top + size / 2 - (points[2 * i + 1] - cy) * zoom];
    const groups = [...new Set(meta.groups)];
    const colourOf = (i) => theme.groups[groups.indexOf(meta.groups[i]) % theme.groups.length];
    this.frame(context, theme, left, top, size, frame);
    context.save();
    context.beginPath();
    context.rect(Math.round(left), top, Math.round(size), Math.round(size));  // whole pixels: parted ones make every line dear
    context.clip();
    const n = Math.min(meta.labels.length, frame.points.length / 2);
    // Sequences are those of the probe in every picture, so that what is pointed at in one is marked in all.
    const place = (i) => placeInWords(meta.labels[i]), mark = markedKey(view), there = placeOf(mark);
    const key = (i) => (this.reading === "trajectories" ? `sequence:${i}` : place(i) === null ? `point:${i}` : placeKey(place(i)));
    const chosen = new Set(mark ? meta.labels.map((_, i) => i).filter((i) => key(i) === mark || (there !== null && place(i) === there)) : []);
    this.hovered = chosen.size ? Math.min(...chosen) : -1;
    const end = frames.indexOf(frame), start = Math.max(0, end - Math.round(TAIL_POINTS / n));
    context.lineWidth = 1;
    for (let i = 0; i < n; i++) {
      context.strokeStyle = colourOf(i);
      for (let piece = 0; piece < 3; piece++) {
        const a = start + Math.floor(((end - start) * piece) / 3), b = start + Math.floor(((end - start) * (piece + 1)) / 3);
        context.globalAlpha = (0.12 + 0.18 * piece) * (chosen.size && !chosen.has(i) ? 0.3 : 1);
        context.beginPath();
        for (let k = a; k <= b; k++) { const [x, y] = put(frames[k].points, i); if (k === a) context.moveTo(x, y); else context.lineTo(x, y); }
        context.stroke();
      }
    }
    this.places = [];
    let lost = 0;
    for (let i = 0; i < n; i++) {
      const [x, y] = put(frame.points, i);
      this.places.push({ x, y, key: key(i), label: meta.labels[i], group: meta.groups[i] });
      if (!Number.isFinite(x + y)) { lost++; continue; }
      context.globalAlpha = chosen.size && !chosen.has(i) ? 0.35 : 1;
      context.fillStyle = colourOf(i);
      const group = groups.indexOf(meta.groups[i]);
      context.beginPath();
      if (group % 3 === 1) context.rect(x - 3.4, y - 3.4, 6.8, 6.8);
      else if (group % 3 === 2) { context.moveTo(x, y - 4.6); context.lineTo(x + 4.4, y + 3.6); context.lineTo(x - 4.4, y + 3.6); }
      else context.arc(x, y, 4, 0, 2 * Math.PI);
      context.fill();
      context.strokeStyle = theme.background;
      context.lineWidth = 1;
      context.stroke();
    }
    context.globalAlpha = 1;
    context.restore();
    if (this.hovered >= 0 && !this.hit && !view.pinned) this.word(context, theme, meta, left, size);
    this.note = note(frame, lost, meta);
    this.legend = groups.map((name) => ({
      name, colour: theme.groups[groups.indexOf(name) % theme.groups.length], shape: ["●", "■", "▲"][groups.indexOf(name) % 3],
    }));
  }

  frame(context, theme, left, top, size, frame) {
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.strokeRect(Math.round(left) + 0.5, top + 0.5, Math.round(size), Math.round(size));
    const [cx, cy] = this.centre, zoom = size / 2 / this.half;
    const mx = Math.round(left + size / 2 - cx * zoom) + 0.5, my = Math.round(top + size / 2 + cy * zoom) + 0.5;
    context.beginPath();
    if (mx > left && mx < left + size) { context.moveTo(mx, top); context.lineTo(mx, top + size); }
    if (my > top && my < top + size) { context.moveTo(left, my); context.lineTo(left + size, my); }
    context.stroke();
    context.fillStyle = theme.faint;
    context.textBaseline = "top";
    const projected = Number.isFinite(frame.explained[0]);
    context.textAlign = "right";
    const names = projected ? `variance shown: ${share(frame.explained[0])} + ${share(frame.explained[1])}` : "the model's own two dimensions";
    context.fillText(names, left + size, top + size + 5);
    const wide = `width ${number(2 * this.half, 2)}`;
    if (context.measureText(names).width + context.measureText(wide).width + 8 > size) return;
    context.textAlign = "left";
    context.fillText(wide, left, top + size + 5);
  }

  // The word of a point that is pointed at in another picture; here a tip says it.
  word(context, theme, meta, left, size) {
    const { x, y } = this.places[this.hovered] || {}, label = meta.labels[this.hovered];
    if (!Number.isFinite(x)) return;
    const text = label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL - 1)}…` : label, w = context.measureText(text).width;
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillText(text, Math.max(left + 4, x + 8 + w < left + size - 4 ? x + 8 : x - 8 - w), y);
  }

  at(x, y) {
    let best = null, least = 144;
    for (const place of this.places) { const d = (place.x - x) ** 2 + (place.y - y) ** 2; if (d < least) { least = d; best = place; } }
    return best;
  }
}

function note(frame, lost, meta) {
  const basis = Number.isFinite(frame.explained[0]) ? meta.provenance?.method || "one fixed basis" : "";
  return [lost ? `${lost} points are NaN` : "", basis].filter(Boolean).join(" · ");
}
