// One head's attention on one probe sequence: a fixed scale, token labels, hatched cells where nothing may be seen.

import { number } from "./dom.js";
import { HeadGrid } from "./grid.js";
import { prepare } from "./theme.js";

const LEAST = 72;  // pixels that a map is tall at least

export class AttentionMap {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, stretched: false, all: false, cell: null, box: null, grid: new HeadGrid() }); }

  draw(view) {
    const room = prepare(this.canvas, view.theme.font), { context } = room;
    const [width, height] = this.all ? this.share(room, view) : [room.width, room.height];
    const frame = view.model.frameAt("map", this.panel.reading, view.until());
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
    this.hatch(context, theme, frame, meta);
    this.lines(context, theme);
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

  image(theme, frame, scale) {
    if (this.drawn?.frame === frame && this.drawn.scale === scale && this.drawn.ramp === theme.ramp) return this.drawn.canvas;
    const canvas = this.drawn?.canvas || document.createElement("canvas");
    canvas.width = frame.keys;
    canvas.height = frame.queries;
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(frame.keys, frame.queries);
    for (let i = 0; i < frame.cells.length; i++) {
      const shade = 3 * Math.min(255, Math.round((frame.cells[i] * (frame.maximum || 0)) / scale));
      pixels.data.set([theme.ramp[shade], theme.ramp[shade + 1], theme.ramp[shade + 2], 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
    this.drawn = { frame, scale, ramp: theme.ramp, canvas };
    return canvas;
  }

  visible(meta, frame, q, k) {
    if (frame.average === 1) return meta.mask[q]?.[k] !== 0;
    for (let a = q * frame.average; a < (q + 1) * frame.average; a++) {
      for (let b = k * frame.average; b < (k + 1) * frame.average; b++) if (meta.mask[a]?.[b]) return true;
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

  lines(context, theme) {
    const { x0, y0, side, tall, queries, keys } = this.box;
    context.strokeStyle = theme.axis;
    context.strokeRect(x0 - 0.5, y0 - 0.5, side * keys + 1, tall * queries + 1);
    if (this.cell) {
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      context.strokeRect(x0 + this.cell[1] * side, y0 + this.cell[0] * tall, side, tall);
    }
  }

  labels(context, theme, frame, meta) {
    const { x0, y0, side, tall } = this.box;
    const every = Math.max(1, Math.ceil(11 / side)), rows = Math.max(1, Math.ceil(11 / tall));
    const word = (labels, i) => {
      const text = String(labels[i * frame.average] ?? "");
      return text.length > 5 ? `${text.slice(0, 4)}…` : text;
    };
    context.fillStyle = theme.faint;
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (let q = 0; q < frame.queries; q += rows) context.fillText(word(meta.query_labels, q), x0 - 5, y0 + (q + 0.5) * tall);
    context.textAlign = "center";
    const wide = this.box.long && side < 30;
    for (let k = 0; k < frame.keys; k += every) {
      const x = x0 + (k + 0.5) * side;
      if (!wide) { context.fillText(word(meta.key_labels, k), x, y0 - 9); continue; }
      context.save();
      context.translate(x, y0 - 4);
      context.rotate(-Math.PI / 2.6);
      context.textAlign = "left";
      context.fillText(word(meta.key_labels, k), 0, 0);
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
    for (let i = 0; i < height; i++) {
      const shade = 3 * Math.round(255 * (1 - i / height));
      context.fillStyle = `rgb(${theme.ramp[shade]},${theme.ramp[shade + 1]},${theme.ramp[shade + 2]})`;
      context.fillRect(x, y + i, 7, 1.5);
    }
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
    const name = (labels, i) => `${labels[i * frame.average]} (place ${i * frame.average})`;
    const seen = this.visible(meta, frame, q, k);
    const value = (frame.cells[q * frame.keys + k] / 255) * frame.maximum;
    return `${name(meta.query_labels, q)} → ${name(meta.key_labels, k)}: ${seen ? number(value) : "masked"}`;
  }
}
