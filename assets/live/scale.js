// Axes: honest ranges that only widen while a run grows, and ticks at round numbers.

import { grouped } from "./dom.js";

export function niceSteps(step, limit) {
  const size = Math.max(step, 10);
  const unit = 10 ** Math.floor(Math.log10(size));
  const end = [1, 1.5, 2, 3, 4, 5, 7.5, 10].map((m) => m * unit).find((v) => v >= size);
  return limit ? Math.min(end, limit) : end;
}

export class LinearScale {
  constructor(low, high, from, to) {
    Object.assign(this, { low, high, from, to, log: false });
    this.factor = (to - from) / (high - low || 1);
  }
  place(value) { return this.from + (value - this.low) * this.factor; }
  value(place) { return this.low + (place - this.from) / this.factor; }
  ticks(about) {
    const raw = (this.high - this.low) / Math.max(about, 1);
    const unit = 10 ** Math.floor(Math.log10(raw || 1));
    const size = [1, 2, 2.5, 5, 10].map((m) => m * unit).find((v) => v >= raw) || unit;
    const found = [];
    for (let k = Math.ceil(this.low / size - 1e-9); k * size <= this.high + 1e-9 * size; k++) found.push(k * size);
    const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(size) + 1e-9) + (size / unit === 2.5 ? 1 : 0)));
    return found.map((v) => ({ value: v, label: grouped(v.toFixed(digits)).replace("-", "−"), major: true }));
  }
}

export class LogScale {
  constructor(low, high, from, to) {
    Object.assign(this, { low, high, from, to, log: true });
    this.start = Math.log10(low);
    this.factor = (to - from) / (Math.log10(high) - this.start || 1);
  }
  place(value) { return this.from + (Math.log10(value) - this.start) * this.factor; }
  value(place) { return 10 ** (this.start + (place - this.from) / this.factor); }
  ticks(about) {
    const end = Math.log10(this.high), few = end - this.start < 2, between = end - this.start < 1 ? [1, 2, 3, 5] : few ? [1, 2, 5] : [1], first = Math.ceil(this.start - 4e-4), last = Math.floor(end + 4e-4);
    // Of many decades every so many has a label, from the first one seen; of less than two those between have one too.
    const every = Math.max(1, Math.ceil((last - first + 1) / Math.max(about, 1)));
    const found = [];
    for (let d = few ? first - 1 : first; d <= last; d++) {
      for (const m of between) {
        const value = m * 10 ** d;
        if (value < this.low * 0.999 || value > this.high * 1.001) continue;
        found.push({ value, label: few || (d - first) % every === 0 ? power(m, d) : "", major: m === 1 });
      }
    }
    return found;
  }
}

function power(m, d) {
  if (d >= -2 && d <= 3) return grouped(String(Number((m * 10 ** d).toPrecision(1))));
  const raised = [...String(d)].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");
  return m === 1 ? `10${raised}` : `${m}·10${raised}`;
}

// A range that holds its place: it widens with room to spare when something leaves it, and never shrinks by itself.
export class HeldRange {
  constructor(log, bounds) { Object.assign(this, { log, bounds, range: null }); }

  reset() { this.range = null; }

  hold(low, high) {
    if (!(low <= high)) return this.range || (this.log ? [0.1, 10] : this.bounds || [0, 1]);
    if (this.range && low >= this.range[0] && high <= this.range[1]) return this.range;
    if (this.range) { low = Math.min(low, this.range[0]); high = Math.max(high, this.range[1]); }
    this.range = this.log ? roundLog(low, high) : roundLinear(low, high, this.bounds);
    return this.range;
  }
}

function roundLinear(low, high, bounds) {
  const room = (high - low || Math.abs(high) * 0.2 || 1) * 0.06;
  let [a, b] = [low - room, high + room];
  if (low >= 0 && a < 0) a = 0;
  if (low >= 0 && low < 0.35 * high) a = 0;
  if (bounds) { a = Math.max(a, bounds[0]); b = bounds[1]; if (b - a < 0.05) a = b - 0.05; }
  return [a, b];
}

function roundLog(low, high) {
  let [a, b] = [low / 1.25, high * 1.25];
  if (b / a < 4) { const middle = Math.sqrt(a * b); a = middle / 2; b = middle * 2; }
  return [a, b];
}
