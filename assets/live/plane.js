// A picture of the visual model in the plane: points of its layers with numbered axes, tails, and level lines.

import { number, share } from "./dom.js";
import { Levels } from "./levels.js";
import { LinearScale } from "./scale.js";
import { marker, prepare } from "./theme.js";

const TAIL = 24, MOST_TAILS = 70, MOST_LABELS = 30;
const LEFT = 34, BOTTOM = 18;
const POINT = 4, SIDES = [[1, 0], [-1, 0], [0, -1], [0, 1]];  // how far a point reaches; where its word may stand

const meets = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

export class Plane {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, places: [], levels: new Levels(), ends: null, note: "", legend: null, sides: new Map() }); }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font);
    const { pictures } = view, meta = pictures.meta(this.panel), frames = pictures.frames(this.panel);
    const frame = view.model.frameAt("numbers", this.panel.reading, view.until());
    this.frame = frame;
    if (!meta || !frame || width < 60) return;
    const model = pictures.model(frame, meta);
    if (!model.finite) { this.lost(context, view.theme, width, height); return; }
    const place = (name, at) => pictures.placed(name, at, meta, frames[0]);
    if (!this.reach(view.model.scales[this.panel.reading])) return;
    const size = Math.max(20, Math.min(width - LEFT - 6, height - BOTTOM - 6)), left = LEFT + (width - LEFT - 6 - size) / 2, top = 4;
    const [cx, cy] = this.centre, half = this.half;
    const x = new LinearScale(cx - half, cx + half, left, left + size), y = new LinearScale(cy - half, cy + half, top + size, top);
    const { theme } = view, [main] = this.panel.layers;
    const plane = pictures.plane(main, frame, meta, frames[0]);
    if (this.panel.levels) this.levels.grid(model, this.panel.levels, plane, { left: x.low, bottom: y.low, size: 2 * half }).draw(context, theme, left, top, size);
    this.axes(context, theme, x, y, left, top, size);
    context.save();
    context.beginPath();
    context.rect(Math.round(left), top, Math.round(size), Math.round(size));
    context.clip();
    this.places = [];
    const marked = pictures.marked(meta);
    if (main === "z") this.arrow(context, theme, x, y, plane.axes.map((axis) => axis.reduce((s, a, i) => s + a * model.query[i], 0)));
    for (const name of this.panel.layers) this.layer(context, theme, x, y, name, frame, frames, place, marked);
    this.own(context, theme, x, y, view, frame, meta, plane);
    context.restore();
    this.words(context, theme, left, size, marked);
    this.tell(view, frame, meta, frames, plane, place);
  }

  layer(context, theme, x, y, name, frame, frames, place, marked) {
    const layer = place(name, frame), { placed } = layer;
    const colour = (i) => theme.groups[layer.colours[i] % theme.groups.length];
    const faded = (i) => (marked && !marked.has(layer.keys[i]) ? 0.25 : 1);
    if (!layer.quiet && placed.length <= MOST_TAILS) this.tails(context, x, y, name, frame, frames, place, colour, faded);
    if (layer.joined) {
      const to = place(layer.joined, frame).placed;
      context.strokeStyle = theme.axis;
      context.lineWidth = 0.7;
      context.beginPath();
      placed.forEach(([a, b], i) => { context.moveTo(x.place(a), y.place(b)); context.lineTo(x.place(to[i][0]), y.place(to[i][1])); });
      context.stroke();
    }
    placed.forEach(([a, b], i) => {
      const px = x.place(a), py = y.place(b);
      this.places.push({ x: px, y: py, key: layer.keys[i], label: layer.labels[i], group: layer.groups[i], short: !layer.sequences && !layer.quiet });
      context.globalAlpha = faded(i);
      context.fillStyle = context.strokeStyle = colour(i);
      marker(context, layer.shapes[i], px, py, layer.sizes[i] + (marked?.has(layer.keys[i]) ? 1.5 : 0));
      context.lineWidth = layer.hollow ? 1.2 : 1;
      if (!layer.hollow) { context.fill(); context.strokeStyle = theme.background; }
      context.stroke();
    });
    context.globalAlpha = 1;
  }

  tails(context, x, y, name, frame, frames, place, colour, faded) {
    const end = frames.indexOf(frame), past = [];
    for (let k = Math.max(0, end - TAIL); k <= end; k++) past.push(place(name, frames[k]).placed);
    context.lineWidth = 1;
    for (let i = 0; i < past[past.length - 1].length; i++) {
      context.strokeStyle = colour(i);
      context.globalAlpha = 0.3 * faded(i);
      context.beginPath();
      past.forEach((points, k) => context[k ? "lineTo" : "moveTo"](x.place(points[i][0]), y.place(points[i][1])));
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  arrow(context, theme, x, y, [a, b]) {
    const [x0, y0, x1, y1] = [x.place(0), y.place(0), x.place(a), y.place(b)], turn = Math.atan2(y1 - y0, x1 - x0);
    context.strokeStyle = context.fillStyle = theme.accent;
    context.lineWidth = 2;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    for (const side of [2.6, -2.6]) { context.moveTo(x1, y1); context.lineTo(x1 + 8 * Math.cos(turn + side), y1 + 8 * Math.sin(turn + side)); }
    context.stroke();
    context.fillText("q", x1 + 6, y1 - 4);
  }

  own(context, theme, x, y, view, frame, meta, plane) {
    const look = view.pictures.ownLook(frame, meta);
    if (!look) return;
    for (const name of this.panel.layers) {
      const at = { xi: look.xi, nxi: look.nxi, h: look.h, ffn: look.ffn }[name];
      if (!at) continue;
      const [a, b] = plane.axes.map((axis) => axis.reduce((s, v, i) => s + v * (at[i] - plane.centre[i]), 0));
      context.fillStyle = theme.text;
      context.strokeStyle = theme.background;
      marker(context, "star", x.place(a), y.place(b), 7);
      context.fill();
      context.stroke();
      this.places.push({ x: x.place(a), y: y.place(b), key: "sequence:own", label: "your sequence", group: "yours" });
    }
  }

  axes(context, theme, x, y, left, top, size) {
    context.lineWidth = 1;
    context.strokeStyle = theme.grid;
    context.strokeRect(Math.round(left) + 0.5, top + 0.5, Math.round(size), Math.round(size));
    context.fillStyle = theme.faint;
    for (const [scale, across] of [[x, true], [y, false]]) {
      for (const tick of scale.ticks(size / 62)) {
        const at = Math.round(scale.place(tick.value)) + 0.5;
        context.strokeStyle = Math.abs(tick.value) < 1e-9 ? theme.axis : theme.grid;
        context.beginPath();
        if (across) { context.moveTo(at, top); context.lineTo(at, top + size); } else { context.moveTo(left, at); context.lineTo(left + size, at); }
        context.stroke();
        context.textAlign = across ? "center" : "right";
        context.textBaseline = across ? "top" : "middle";
        context.fillText(tick.label, across ? at : left - 4, across ? top + size + 4 : at);
      }
    }
  }

  // A square that holds the layers shown here, of all arms and seeds and over all that is recorded.
  reach(scales) {
    const squares = this.panel.layers.map((name) => scales?.[name]).filter(Boolean);
    if (!squares.length) return false;
    const ends = [0, 1].map((axis) => [Math.min(...squares.map(({ centre, half }) => centre[axis] - half)), Math.max(...squares.map(({ centre, half }) => centre[axis] + half))]);
    this.centre = ends.map(([low, high]) => (low + high) / 2);
    this.half = Math.max(...ends.map(([low, high]) => (high - low) / 2));
    return true;
  }

  words(context, theme, left, size, marked) {
    const few = this.places.filter((p) => p.short).length;
    context.fillStyle = theme.text;
    context.textAlign = "left";
    context.textBaseline = "middle";
    const taken = [], points = this.places.map(({ x, y }) => ({ left: x - POINT, right: x + POINT, top: y - POINT, bottom: y + POINT }));
    this.places.forEach((p, i) => {
      const chosen = marked?.has(p.key);
      if (!p.short || !(chosen || (few <= MOST_LABELS && !marked))) return;  // long labels stand in the tip
      // Beside its point where it covers neither a word nor another point; where it was before, if it can.
      const w = context.measureText(p.label).width, boxes = SIDES.map(([right, down], k) => {
        const at = p.x + right * (POINT + 3 + w / 2) - w / 2, y = p.y + down * 11;
        return { k, left: at, right: at + w, top: y - 5, bottom: y + 5 };
      });
      const free = (box) => box.left > left && box.right < left + size + 6 && !taken.some((other) => meets(box, other)) && (chosen || !points.some((other, k) => k !== i && meets(box, other)));
      const before = boxes[this.sides.get(p.key)], box = before && free(before) ? before : boxes.find(free);
      if (!box) return;  // the tip and the table name it
      this.sides.set(p.key, box.k);
      taken.push(box);
      context.fillText(p.label, box.left, box.top + 5);
    });
  }

  tell(view, frame, meta, frames, plane, place) {
    const groups = new Map();
    for (const name of this.panel.layers) {
      const layer = place(name, frame);
      layer.groups.forEach((group, i) => { if (!groups.has(group)) groups.set(group, { name: group, colour: view.theme.groups[layer.colours[i] % view.theme.groups.length], shape: layer.hollow ? "○" : { square: "■", "triangle-up": "▲", diamond: "◆", cross: "✚" }[layer.shapes[i]] || "●" }); });
    }
    this.legend = [...groups.values()];
    const layer = place(this.panel.layers[0], frame);
    const shown = plane.exact ? "" : `plane of step ${plane.step} shows ${share(shareIn(layer))}`;
    this.note = [layer.shapes.note, this.panel.levels ? "lines: p = 0.5, 0.75, 0.9" : "", shown].filter(Boolean).join(" · ");
  }

  lost(context, theme, width, height) {
    context.fillStyle = theme.text;
    context.textAlign = "center";
    context.fillText("This seed's weights are not numbers at this step.", width / 2, height / 2);
    Object.assign(this, { places: [], legend: [], note: "" });
  }

  at(x, y) {
    let best = null, least = 150;
    for (const p of this.places) { const d = (p.x - x) ** 2 + (p.y - y) ** 2; if (d < least) { least = d; best = p; } }
    return best;
  }

  table(view) { return this.places.slice(0, 40).map((p) => [p.label, p.group, ""]).concat([["half width of the axes", number(this.half), this.note]]); }
}

function shareIn(layer) {
  const variance = (points) => points[0].map((_, i) => { const mean = points.reduce((s, p) => s + p[i], 0) / points.length; return points.reduce((s, p) => s + (p[i] - mean) ** 2, 0); }).reduce((a, b) => a + b, 0);
  return variance(layer.placed) / (variance(layer.points) || 1);
}
