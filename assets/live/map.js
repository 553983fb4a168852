// One head's attention on one probe sequence: a fixed scale, token labels, hatched cells where nothing may be seen.

import { number } from "./dom.js";
import { HeadGrid } from "./grid.js";
import { markedKey, placeKey, placeOf } from "./marks.js";
import { prepare, rampPicture } from "./theme.js";

const LEAST = 72;  // pixels that a map is tall at least
const OVERVIEW = 74, FEWEST = 4;  // pixels of the overview beside a part; cells that a part has at least

export class AttentionMap {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, stretched: false, all: false, cell: null, box: null, from: null, to: null, grid: new HeadGrid() }); }

  draw(view) {
    const room = prepare(this.canvas, view.theme.font), { context } = room;
    let [width, height] = this.all ? this.share(room, view) : [room.width, room.height];
    const whole = view.model.frameAt("map", this.panel.reading, view.until()), { region } = view.model.selection;
    const close = region && whole && whole.average > 1 ? view.model.frameAt("region", this.panel.reading, view.until()) : null;
    const frame = close && close.origin[0] === region[0] && close.origin[1] === region[2] ? close : whole;
    this.inset = null;
    if (frame === close && close) width -= OVERVIEW + 12;
    this.whole = whole;
    const meta = view.model.meta(this.panel.reading, view.model.selection.arm);
    this.frame = frame;
    if (!frame || !meta?.key_labels) return;
    const { theme } = view;
    const { queries, keys } = frame;
    const long = (labels) => labels.some((label) => String(label).length > 2);
    const left = long(meta.query_labels) ? 58 : 40, top = long(meta.key_labels) ? 44 : 26, bar = 34;
    const size = Math.min((width - left - bar - 8) / keys, (height - top - 8) / queries);
    // Square cells, but never a strip too low to read.
    const side = Math.min(size, 60), tall = Math.max(side, Math.min(LEAST, height - top - 8) / queries);
    const x0 = left + Math.max(0, (width - left - bar - 8 - side * keys) / 2), y0 = top + Math.max(0, (height - top - 8 - tall * queries) / 2);
    this.box = { x0, y0, side, tall, queries, keys, long: top > 40 };
    const scale = this.stretched ? frame.maximum || 1 : 1;
    this.scale = scale;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.image(theme, frame, scale), x0, y0, side * keys, tall * queries);
    if (frame === close && close) this.overview(context, theme, whole, region, width + 8, 26);
    this.hatch(context, theme, frame, meta);
    this.outline(context, theme);
    this.mark(context, theme, placeOf(markedKey(view)));
    this.told_ = this.told(view);
    this.labels(context, theme, frame, meta);
    if (!this.all) this.gridNote = "";
    this.bar(context, theme, x0 + side * keys + 12, y0, Math.min(tall * queries, height - y0 - 8), scale);
    if (Number.isNaN(frame.maximum)) {
      context.fillStyle = theme.text;
      context.textAlign = "center";
      context.fillText("NaN in this map", x0 + (side * keys) / 2, y0 + (tall * queries) / 2);
    }
  }

  // Room for the large map beside or above the small ones, which are drawn here.
  share({ context, width, height }, view) {
    const wide = width > 1.25 * height, part = wide ? 0.45 : 0.38;
    const box = wide ? { x: width * (1 - part) + 8, y: 8, width: width * part - 8, height: height - 12 } : { x: 4, y: height * (1 - part) + 4, width: width - 8, height: height * part - 4 };
    const drawn = this.grid.draw(context, view, this.panel.reading, box);
    this.gridNote = drawn ? " · small maps on 0 to 1" : " · the small maps are on their way";
    return wide ? [width * (1 - part), height] : [width, height * (1 - part)];
  }

  chooseHead(view, { x, y }) {
    const found = this.all && this.grid.at(x, y);
    if (found) view.select({ layer: found.layer, head: found.head });
    return Boolean(found);
  }

  image(theme, frame, scale, place = "large") {
    const drawn = (this.images ||= {})[place];
    if (drawn?.frame === frame && drawn.scale === scale && drawn.ramp === theme.ramp) return drawn.canvas;
    const canvas = drawn?.canvas || document.createElement("canvas");
    canvas.width = frame.keys;
    canvas.height = frame.queries;
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(frame.keys, frame.queries);
    for (let i = 0; i < frame.cells.length; i++) {
      const shade = 3 * Math.min(255, Math.round((frame.cells[i] * (frame.maximum || 0)) / scale));
      pixels.data.set([theme.ramp[shade], theme.ramp[shade + 1], theme.ramp[shade + 2], 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
    this.images[place] = { frame, scale, ramp: theme.ramp, canvas };
    return canvas;
  }

  visible(meta, frame, q, k) {
    const [q0, k0] = frame.origin || [0, 0], first = q0 + q * frame.average, key = k0 + k * frame.average;
    if (frame.average === 1) return meta.mask[first]?.[key] !== 0;
    for (let a = first; a < first + frame.average; a++) {
      for (let b = key; b < key + frame.average; b++) if (meta.mask[a]?.[b]) return true;
    }
    return false;
  }

  hatch(context, theme, frame, meta) {
    const { x0, y0, side, tall } = this.box;
    context.strokeStyle = theme.axis;
    context.lineWidth = 1;
    context.beginPath();
    for (let q = 0; q < frame.queries; q++) {
      for (let k = 0; k < frame.keys; k++) {
        if (this.visible(meta, frame, q, k)) continue;
        context.moveTo(x0 + k * side, y0 + (q + 1) * tall);
        context.lineTo(x0 + (k + 1) * side, y0 + q * tall);
      }
    }
    context.stroke();
  }

  // The whole map, small, with a frame around the part that is shown large.
  overview(context, theme, whole, [q0, q1, k0, k1], x, y) {
    const tall = OVERVIEW * Math.min(1.6, whole.queries / whole.keys), cell = OVERVIEW / (whole.keys * whole.average), high = tall / (whole.queries * whole.average);
    context.fillStyle = theme.faint;
    context.textAlign = "left";
    context.fillText("overview", x, y - 9);
    context.drawImage(this.image(theme, whole, 1, "overview"), x, y, OVERVIEW, tall);
    context.strokeStyle = theme.axis;
    context.strokeRect(x - 0.5, y - 0.5, OVERVIEW + 1, tall + 1);
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    context.strokeRect(x + k0 * cell, y + q0 * high, Math.max(3, (k1 - k0) * cell), Math.max(3, (q1 - q0) * high));
    context.lineWidth = 1;
  }

  // A drag over a map whose cells average several tokens chooses a part of it.
  press({ x, y }) {
    if (!(this.whole?.average > 1)) return false;
    this.hoverAt(x, y);
    this.from = this.to = this.cell;
    return Boolean(this.from);
  }

  drag() { if (this.from && this.cell) this.to = this.cell; }

  release(view) {
    const { from, to, frame } = this;
    this.from = this.to = null;
    if (!from || !to || (from[0] === to[0] && from[1] === to[1])) return false;
    const part = [0, 1].flatMap((axis) => {
      const [low, high] = [Math.min(from[axis], to[axis]), Math.max(from[axis], to[axis]) + 1], start = frame.origin?.[axis] ?? 0;
      return [start + low * frame.average, start + Math.max(high, low + FEWEST) * frame.average];
    });
    view.select({ region: part });
    return true;
  }

  // By the chip or by keys: a part of 64 tokens from the start, the whole again, or the part moved on.
  look(view, on) { view.select({ region: on ? [0, 64, 0, 64] : null }); }

  shift(view, down, right) {
    const { region } = view.model.selection, { whole } = this;
    if (!region || !whole) return false;
    const move = (from, to, by, most) => { const step = Math.round(by * (to - from) * 0.5), kept = Math.max(-from, Math.min(step, most - to)); return [from + kept, to + kept]; };
    view.select({ region: [...move(region[0], region[1], down, whole.queries * whole.average), ...move(region[2], region[3], right, whole.keys * whole.average)] });
    return true;
  }

  // A token that is pointed at in any picture: its column of keys, and its row where tokens ask as well.
  mark(context, theme, place) {
    if (place === null) return;
    const { x0, y0, side, tall, queries, keys } = this.box, [q0, k0] = this.frame.origin || [0, 0], average = this.frame.average;
    const k = Math.floor((place - k0) / average), q = Math.floor((place - q0) / average);
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    if (k >= 0 && k < keys) context.strokeRect(x0 + k * side, y0 - 3, side, tall * queries + 6);
    if (queries > 1 && q >= 0 && q < queries) context.strokeRect(x0 - 3, y0 + q * tall, side * keys + 6, tall);
    context.lineWidth = 1;
  }

  // The key token under the pointer, for the other pictures; what the cell says stands under the map.
  at(x, y) {
    this.hoverAt(x, y);
    if (!this.cell || !this.frame) return null;
    const k0 = this.frame.origin?.[1] ?? 0;
    return { x, y, key: placeKey(k0 + this.cell[1] * this.frame.average), label: this.told_, group: "", silent: true };
  }

  outline(context, theme) {
    const { x0, y0, side, tall, queries, keys } = this.box;
    context.strokeStyle = theme.axis;
    context.strokeRect(x0 - 0.5, y0 - 0.5, side * keys + 1, tall * queries + 1);
    if (this.from && this.to) {
      const [a, b] = [Math.min(this.from[0], this.to[0]), Math.min(this.from[1], this.to[1])];
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      context.strokeRect(x0 + b * side, y0 + a * tall, (Math.abs(this.from[1] - this.to[1]) + 1) * side, (Math.abs(this.from[0] - this.to[0]) + 1) * tall);
    } else if (this.cell) {
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      context.strokeRect(x0 + this.cell[1] * side, y0 + this.cell[0] * tall, side, tall);
    }
  }

  labels(context, theme, frame, meta) {
    const { x0, y0, side, tall } = this.box;
    const every = Math.max(1, Math.ceil(11 / side)), rows = Math.max(1, Math.ceil(11 / tall));
    const word = (labels, i, axis) => {
      const text = String(labels[(frame.origin?.[axis] ?? 0) + i * frame.average] ?? "");
      return text.length > 5 ? `${text.slice(0, 4)}…` : text;
    };
    context.fillStyle = theme.faint;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let q = 0; q < frame.queries; q += rows) context.fillText(word(meta.query_labels, q, 0), x0 - 5, y0 + (q + 0.5) * tall);
    context.textAlign = "center";
    const wide = this.box.long && side < 30;
    for (let k = 0; k < frame.keys; k += every) {
      const x = x0 + (k + 0.5) * side;
      if (!wide) { context.fillText(word(meta.key_labels, k, 1), x, y0 - 9); continue; }
      context.save();
      context.translate(x, y0 - 4);
      context.rotate(-Math.PI / 2.6);
      context.textAlign = "left";
      context.fillText(word(meta.key_labels, k, 1), 0, 0);
      context.restore();
    }
    context.textAlign = "left";
    if (frame.queries < 2) return;
    context.save();
    context.translate(x0 - (this.box.long ? 46 : 30), y0 + (tall * frame.queries) / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText("query", 0, 0);
    context.restore();
  }

  bar(context, theme, x, y, height, scale) {
    context.drawImage(rampPicture(theme.ramp), x, y, 7, height);
    context.strokeStyle = theme.axis;
    context.lineWidth = 1;
    context.strokeRect(x - 0.5, y - 0.5, 8, height + 1);
    context.fillStyle = theme.faint;
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.fillText(scale === 1 ? "1" : number(scale, 2), x + 11, y + 4);
    context.fillText("0", x + 11, y + height - 4);
  }

  hoverAt(x, y) {
    if (!this.box) return;
    const q = Math.floor((y - this.box.y0) / this.box.tall), k = Math.floor((x - this.box.x0) / this.box.side);
    this.cell = q >= 0 && k >= 0 && q < this.box.queries && k < this.box.keys ? [q, k] : null;
  }

  told(view) {
    const meta = view.model.meta(this.panel.reading, view.model.selection.arm);
    if (!this.cell || !this.frame || !meta) return "";
    const [q, k] = this.cell, { frame } = this;
    const [q0, k0] = frame.origin || [0, 0], name = (labels, i) => `${labels[i]} (place ${i})`;
    const seen = this.visible(meta, frame, q, k);
    const value = (frame.cells[q * frame.keys + k] / 255) * frame.maximum;
    return `${name(meta.query_labels, q0 + q * frame.average)} → ${name(meta.key_labels, k0 + k * frame.average)}: ${seen ? number(value) : "masked"}`;
  }
}
