// Lines that grow: what was drawn of them stays on a canvas of its own, to which each update adds its new stretch.

export class Grown {
  constructor() { Object.assign(this, { canvas: null, key: [], ends: [] }); }

  // Draws `lines` by `draw(context, line, from)`, where all that `key` lists is as it was only from the row before the
  // first new one; `shape` clips and scales a context as the picture's own.
  draw(context, key, lines, shape, draw) {
    const all = [...key, ...lines.flatMap(({ series, to }) => [series, series.most, series.fewer, to])];
    const same = this.canvas && all.length === this.key.length && all.every((part, i) => part === this.key[i]);
    const { width, height } = context.canvas;
    if (!same) {
      this.canvas ||= document.createElement("canvas");
      Object.assign(this.canvas, { width, height });  // which clears it
      Object.assign(this, { key: all, ends: lines.map(() => 0) });
    }
    const own = this.canvas.getContext("2d");
    own.save();
    shape(own);
    lines.forEach((line, i) => {
      if (line.series.n > this.ends[i]) draw(own, line, Math.max(0, this.ends[i] - 1));
      this.ends[i] = line.series.n;
    });
    own.restore();
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.canvas, 0, 0);
    context.restore();
  }

  forget() { if (this.canvas) Object.assign(this, { canvas: null, key: [], ends: [] }); }
}
