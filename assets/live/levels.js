// Level lines of the model's answer over a plane: soft colours of the likeliest class, and lines of equal probability.

import { fromPlane } from "./visual.js";

const CELLS = 36;
const LINES = [[0.5, [], 1.4], [0.75, [4, 3], 1], [0.9, [1.5, 3], 1]];

export class Levels {
  constructor() { this.key = null; }

  // Probabilities on a grid over the square window {left, bottom, size} of the plane; kept until something changes.
  grid(model, which, plane, window) {
    const key = [which, window.left, window.bottom, window.size];
    if (this.model === model && String(this.key) === String(key)) return this;
    Object.assign(this, { model, key, window, classes: model.classes });
    this.p = Array.from({ length: model.classes }, () => new Float32Array((CELLS + 1) ** 2));
    for (let j = 0; j <= CELLS; j++) {
      for (let i = 0; i <= CELLS; i++) {
        const x = fromPlane(plane, [window.left + (i / CELLS) * window.size, window.bottom + (j / CELLS) * window.size]);
        const p = which === "xi" ? model.answer(x) : model.probabilities(x);
        for (let c = 0; c < model.classes; c++) this.p[c][j * (CELLS + 1) + i] = p[c];
      }
    }
    this.image = null;
    return this;
  }

  draw(context, theme, left, top, size) {
    if (!this.image || this.dark !== theme.dark) this.paint(theme);
    context.imageSmoothingEnabled = true;
    context.drawImage(this.image, left, top, size, size);
    for (const [level, dash, width] of LINES) {
      context.setLineDash(dash);
      context.lineWidth = width;
      context.strokeStyle = theme.axis;
      context.beginPath();
      // Of two classes the levels of one are those of the other, upside down.
      for (let c = 0; c < (this.classes === 2 && level === 0.5 ? 1 : this.classes); c++) this.trace(context, this.p[c], level, left, top, size);
      context.stroke();
    }
    context.setLineDash([]);
  }

  paint(theme) {
    const n = CELLS + 1, canvas = document.createElement("canvas");
    canvas.width = canvas.height = n;
    const context = canvas.getContext("2d"), pixels = context.createImageData(n, n);
    const colours = Array.from({ length: this.classes }, (_, c) => theme.rgb(theme.groups[c % theme.groups.length]));
    for (let j = 0; j < n; j++) {
      for (let i = 0; i < n; i++) {
        const at = j * n + i;
        let best = 0;
        for (let c = 1; c < this.classes; c++) if (this.p[c][at] > this.p[best][at]) best = c;
        const sure = (this.p[best][at] - 1 / this.classes) / (1 - 1 / this.classes);
        pixels.data.set([...colours[best], Math.round(110 * Math.max(0, sure))], 4 * ((n - 1 - j) * n + i));
      }
    }
    context.putImageData(pixels, 0, 0);
    Object.assign(this, { image: canvas, dark: theme.dark });
  }

  // Marching squares.
  trace(context, values, level, left, top, size) {
    const n = CELLS + 1, step = size / CELLS;
    for (let j = 0; j < CELLS; j++) {
      for (let i = 0; i < CELLS; i++) {
        const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]].map(([a, b]) => [a, b, values[b * n + a] - level]);
        const ends = [];
        for (let k = 0; k < 4; k++) {
          const [a, b, u] = corners[k], [c, d, v] = corners[(k + 1) % 4];
          if (u > 0 === v > 0) continue;
          const t = u / (u - v);
          ends.push([left + (a + t * (c - a)) * step, top + size - (b + t * (d - b)) * step]);
        }
        for (let k = 0; k + 1 < ends.length; k += 2) { context.moveTo(...ends[k]); context.lineTo(...ends[k + 1]); }
      }
    }
  }
}
