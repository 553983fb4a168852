// Values side by side: one row for each column of a reading, on one axis, with the bracket behind all of them.

import { number } from "./dom.js";
import { LinearScale, LogScale } from "./scale.js";
import { armStyle, marker, prepare } from "./theme.js";

const TOP = 18, BOTTOM = 20, RIGHT = 12, MISSED = ", most missed", GAP = 14;

export class Ladder {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, note: "", legend: null, places: [], rows: [] }); }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font), { theme, model } = view;
    const value = (column) => model.value(column, view.until()), quick = this.panel.table.filter(([, label]) => label !== "lower" && label !== "upper" && !label.endsWith(MISSED));
    const end = (word) => { const found = this.panel.table.find(([, label]) => label === word); return found ? value(found[0]) : undefined; };
    const missed = (label) => { const found = this.panel.table.find(([, other]) => other === label + MISSED); return found ? value(found[0]) : undefined; };
    this.rows = quick.map(([column, label]) => ({ label, value: value(column), missed: missed(label) })).filter((row) => row.value !== undefined);
    this.places = [];
    if (!this.rows.length || width < 60) return;
    context.textBaseline = "middle";
    const left = 10 + Math.max(...this.rows.map(({ label }) => context.measureText(label).width)), said = Math.max(...this.rows.map((row) => context.measureText(words(row)).width));
    const lower = end("lower"), upper = end("upper"), known = [...this.rows.map((row) => row.value), lower, upper].filter(Number.isFinite);
    // One axis for all arms, seeds and heads, as far as anything has been read.
    const [least, most] = model.scales[this.panel.reading]?.range || [Math.min(...known), Math.max(...known)];
    this.low = least;
    this.high = this.panel.bounds?.[1] ?? most;
    if (this.panel.log) [this.low, this.high] = [Math.min(this.low, this.high / 10), Math.max(this.high, this.low * 10)];
    const from = this.panel.log ? this.low / 1.3 : this.panel.bounds ? Math.max(this.panel.bounds[0], Math.floor(this.low * 5 - 0.5) / 5) : 0;
    const x = new (this.panel.log ? LogScale : LinearScale)(from, (this.panel.log ? 1.3 : 1) * this.high, left + GAP, width - RIGHT - said - GAP), tall = (height - TOP - BOTTOM) / this.rows.length;
    this.axes(context, theme, x, height);
    if (lower !== undefined) {
      const a = x.place(lower), b = x.place(upper ?? lower);
      context.fillStyle = context.strokeStyle = armStyle(theme, model.selection.arm).colour;
      context.globalAlpha = 0.22;
      context.fillRect(a - 1.5, TOP, b - a + 3, height - TOP - BOTTOM);
      context.globalAlpha = 1;
    }
    this.rows.forEach((row, i) => {
      const y = TOP + (i + 0.5) * tall;
      context.strokeStyle = theme.grid;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x.from, y);
      context.lineTo(x.to, y);
      context.stroke();
      context.fillStyle = theme.text;
      context.textAlign = "right";
      context.fillText(row.label, left, y);
      context.textAlign = "left";
      context.fillStyle = theme.faint;
      context.fillText(words(row), width - RIGHT - said, y);
      if (!Number.isFinite(row.value)) return;
      const style = armStyle(theme, model.selection.arm), at = x.place(row.value);
      context.fillStyle = context.strokeStyle = style.colour;
      if (row.missed > 0 && !this.panel.log) { context.lineWidth = 1.5; context.globalAlpha = 0.5; context.beginPath(); context.moveTo(at, y); context.lineTo(Math.max(x.from, x.place(row.value - row.missed)), y); context.stroke(); context.globalAlpha = 1; }
      marker(context, style.marker, at, y, 4);
      context.fill();
      this.places.push({ x: at, y, key: "", label: `${row.label}: ${number(row.value, 6)}`, group: row.missed === undefined ? "" : `misses at most ${number(row.missed)} at the worst row` });
    });
    this.note = lower === undefined ? "" : `band: the bracket, ${number(lower, 5)} to ${number(upper ?? lower, 5)}`;
  }

  axes(context, theme, x, height) {
    context.fillStyle = theme.faint;
    context.textAlign = "center";
    for (const tick of x.ticks(Math.max(2, (x.to - x.from) / 60))) {
      const at = Math.round(x.place(tick.value)) + 0.5;
      context.strokeStyle = theme.grid;
      context.beginPath();
      context.moveTo(at, TOP);
      context.lineTo(at, height - BOTTOM);
      context.stroke();
      if (tick.label) context.fillText(tick.label, at, height - BOTTOM + 10);
    }
    context.textAlign = "left";
    context.fillText(this.panel.unit, x.from, 8);
    context.fillText(this.rows.some((row) => row.missed !== undefined) ? "median  − most missed" : "median", x.to - 40, 8);
  }

  at(x, y) {
    let best = null, least = 18;
    for (const place of this.places) { const d = Math.abs(place.y - y); if (d < least) { least = d; best = place; } }
    return best;
  }

  table() { return this.rows.map((row) => [row.label, number(row.value, 5), row.missed === undefined ? "" : `misses at most ${number(row.missed)}`]); }
}

const words = (row) => `${number(row.value, 4)}${row.missed === undefined ? "" : `  −${number(row.missed, 2)}`}`;
