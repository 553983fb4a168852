// Points in the plane with their tails; one scale for both axes, locked over the run.

import { share } from "./dom.js";
import { prepare } from "./theme.js";

const TAIL = 60;
const TALLEST_LABELS = 40;

export class Trajectories {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, half: 0, hovered: -1, places: [] }); }

  frames(view) { return view.model.framesOf("points", this.panel.reading); }

  draw(view) {
    const { context, width, height } = prepare(this.canvas);
    const frames = this.frames(view);
    const frame = view.model.frameAt("points", this.panel.reading, view.until());
    const meta = view.model.meta(this.panel.reading, view.model.selection.arm);
    if (!frame || !meta?.labels) return;
    const { theme } = view;
    this.widen(frames);
    const size = Math.min(width, height) - 26, left = (width - size) / 2, top = 6;
    const put = (points, i) => [left + (size / 2) * (1 + points[2 * i] / this.half), top + (size / 2) * (1 - points[2 * i + 1] / this.half)];
    const groups = [...new Set(meta.groups)];
    const colourOf = (i) => theme.groups[groups.indexOf(meta.groups[i]) % theme.groups.length];
    context.font = `11px ${theme.font}`;
    this.frame(context, theme, left, top, size, frame);
    const end = frames.indexOf(frame), start = Math.max(0, end - TAIL);
    const n = Math.min(meta.labels.length, frame.points.length / 2);
    context.lineWidth = 1;
    for (let i = 0; i < n; i++) {
      context.strokeStyle = colourOf(i);
      for (let piece = 0; piece < 3; piece++) {
        const a = start + Math.floor(((end - start) * piece) / 3), b = start + Math.floor(((end - start) * (piece + 1)) / 3);
        context.globalAlpha = (0.12 + 0.18 * piece) * (this.hovered >= 0 && this.hovered !== i ? 0.3 : 1);
        context.beginPath();
        for (let k = a; k <= b; k++) { const [x, y] = put(frames[k].points, i); if (k === a) context.moveTo(x, y); else context.lineTo(x, y); }
        context.stroke();
      }
    }
    this.places = [];
    let lost = 0;
    for (let i = 0; i < n; i++) {
      const [x, y] = put(frame.points, i);
      this.places.push([x, y]);
      if (!Number.isFinite(x + y)) { lost++; continue; }
      context.globalAlpha = this.hovered >= 0 && this.hovered !== i ? 0.35 : 1;
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
    if (n <= TALLEST_LABELS || this.hovered >= 0) this.labels(context, theme, meta, n, left, size);
    this.note = note(frame, lost, meta);
    this.legend = groups.map((name, g) => ({ name, colour: theme.groups[g % theme.groups.length], shape: ["●", "■", "▲"][g % 3] }));
  }

  // The axes hold everything seen so far and go up by whole notches, so that they hardly ever move.
  widen(frames) {
    if (this.seen !== frames) { this.seen = frames; this.half = 0; this.looked = 0; }
    for (; this.looked < frames.length; this.looked++) {
      for (const v of frames[this.looked].points) {
        while (Number.isFinite(v) && Math.abs(v) > 0.94 * this.half) this.half = this.half ? notch(this.half) : notch(Math.abs(v) || 0.5);
      }
    }
    this.half = this.half || 1;
  }

  frame(context, theme, left, top, size, frame) {
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.strokeRect(Math.round(left) + 0.5, top + 0.5, Math.round(size), Math.round(size));
    context.beginPath();
    const mx = Math.round(left + size / 2) + 0.5, my = Math.round(top + size / 2) + 0.5;
    context.moveTo(mx, top); context.lineTo(mx, top + size);
    context.moveTo(left, my); context.lineTo(left + size, my);
    context.stroke();
    context.fillStyle = theme.faint;
    context.textBaseline = "top";
    const projected = Number.isFinite(frame.explained[0]);
    context.textAlign = "left";
    context.fillText(`±${Number(this.half.toPrecision(2))}`, left, top + size + 4);
    context.textAlign = "right";
    const names = projected ? `axis 1: ${share(frame.explained[0])}, axis 2: ${share(frame.explained[1])} of the variance` : "the model's own two dimensions";
    context.fillText(names, left + size, top + size + 4);
  }

  labels(context, theme, meta, n, left, size) {
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    const taken = [];
    const order = this.hovered >= 0 ? [this.hovered] : [...Array(n).keys()];
    for (const i of order) {
      const [x, y] = this.places[i] || [];
      if (!Number.isFinite(x)) continue;
      const text = this.hovered === i ? `${meta.labels[i]} (${meta.groups[i]})` : meta.labels[i];
      const w = context.measureText(text).width, right = x + 8 + w < left + size + 30;
      const box = [right ? x + 7 : x - 7 - w, y - 6, w, 12];
      if (taken.some((t) => box[0] < t[0] + t[2] && t[0] < box[0] + w && Math.abs(box[1] - t[1]) < 11)) continue;
      taken.push(box);
      context.textAlign = "left";
      context.fillText(text, box[0], y);
    }
  }

  hoverAt(x, y) {
    let best = -1, least = 144;
    this.places.forEach(([px, py], i) => { const d = (px - x) ** 2 + (py - y) ** 2; if (d < least) { least = d; best = i; } });
    this.hovered = best;
  }
}

function notch(size) {
  const unit = 10 ** Math.floor(Math.log10(size * 1.1));
  return [1, 1.5, 2, 3, 4, 5, 7, 10, 15].map((m) => m * unit).find((v) => v > size * 1.06);
}

function note(frame, lost, meta) {
  const basis = Number.isFinite(frame.explained[0]) ? meta.provenance?.method || "one fixed basis" : "";
  return [lost ? `${lost} points are NaN` : "", basis].filter(Boolean).join(" · ");
}
