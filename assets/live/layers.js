// A table of layers: one row for each column of a reading, one column for each layer, a sign where it is yes or no.

import { number } from "./dom.js";
import { prepare } from "./theme.js";

const ROW = 19, YES = "1 if below 1";

export class Layers {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, note: "", legend: null, said: [] }); }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font), { theme, model } = view, until = view.until();
    const frames = this.panel.table.map(([column, label]) => ({ column, label, frame: model.frameAt("heads", column, until) })).filter(({ frame }) => frame);
    this.said = [];
    this.note = "";
    if (!frames.length || width < 60) return;
    const layers = Math.max(...frames.map(({ frame }) => frame.layers)), left = 12 + Math.max(...frames.map(({ label }) => context.measureText(label).width), ...this.constants(view).map(([label]) => context.measureText(label).width));
    const cell = Math.min(92, (width - left - 6) / layers), row = Math.min(26, Math.max(ROW, (height - 24) / (frames.length + 3)));
    const put = (text, x, y, align, colour) => { context.textAlign = align; context.fillStyle = colour; context.fillText(text, x, y); };
    context.textBaseline = "middle";
    for (let layer = 0; layer < layers; layer++) put(`layer ${layer + 1}`, left + (layer + 1) * cell, 10, "right", layer === model.selection.layer && layers > 1 ? theme.text : theme.faint);
    let y = 12 + row;
    for (const { column, label, frame } of frames) {
      put(label, 0, y, "left", theme.text);
      const unit = model.hello.columns[model.places.get(column)].unit;
      for (let layer = 0; layer < frame.layers; layer++) {
        const value = frame.values[layer * frame.heads], judged = unit === YES;
        const text = judged ? (Number.isNaN(value) ? "NaN" : value ? "✓ yes" : "✕ no") : number(value, 4);
        put(text, left + (layer + 1) * cell, y, "right", judged ? (value ? theme.good : theme.alarm) : theme.text);
        this.said.push([`${label}, layer ${layer + 1}`, text.replace(/^[✓✕] /, ""), `step ${frame.step}`]);
      }
      this.rule(context, theme, y + row / 2, width);
      y += row;
    }
    for (const [label, value, words] of this.constants(view)) {
      if (y > height - 4) break;
      put(label, 0, y, "left", theme.text);
      put(number(value, 4), left + cell, y, "right", theme.text);
      this.said.push([label, number(value, 4), words]);
      y += row;
    }
    const { deepnorm } = model.hello, placement = deepnorm?.placements[model.selection.arm];
    this.note = `read at step ${frames[0].frame.step}${this.panel.constants && placement ? ` · this arm: ${placement}` : ""}`;
  }

  // DeepNorm's two numbers for a model of as many layers; they change with nothing else.
  constants(view) {
    const { deepnorm } = view.model.hello;
    return deepnorm && this.panel.constants ? [["DeepNorm α = (2N)^¼", deepnorm.alpha, `${deepnorm.layers} layers`], ["DeepNorm gain (8N)^-¼", deepnorm.gain, `${deepnorm.layers} layers`]] : [];
  }

  rule(context, theme, y, width) {
    context.strokeStyle = theme.grid;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(0, Math.round(y) + 0.5);
    context.lineTo(width, Math.round(y) + 0.5);
    context.stroke();
  }

  table() { return this.said; }
}
