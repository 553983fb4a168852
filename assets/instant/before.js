// The pale mean of what stood there before a knob was turned; it plays the part of a run's ghost in the curves.

export class Before {
  constructor(view) { Object.assign(this, { view, series: new Map() }); }

  // Keep the series of the computation that is about to be drawn over.
  keep(series) { this.series = series; }

  lines(curves, shown) {
    const { places } = this.view.model;
    return curves.filter(({ column, style }) => shown.has(column) && style === "solid").map((curve) => ({ curve, arm: 0, name: "before", series: this.series.get(places?.get(curve.column) * 256), to: null })).filter(({ series }) => series?.n);
  }

  draw(context, theme, { series }, stroke) {
    context.strokeStyle = theme.reference;
    context.globalAlpha = 0.8;
    context.lineWidth = 1.2;
    context.setLineDash([5, 4]);
    stroke(series.mean);
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  marks() { return []; }
}
