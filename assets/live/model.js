// What this viewer knows of the run: curves by column and arm, and frames of what is selected.

import { FULL, RESELECTED } from "./wire.js";

const TOO_MANY_ROWS = 6000;
const TOO_MANY_FRAMES = 700;

// Rows of one column and arm: steps, one array per seed, and what the seeds have in common.
export class Series {
  constructor(seeds) {
    this.n = 0;
    this.thinnedFrom = 0;
    this.most = 0;  // seeds behind a mean at most, and whether any mean has fewer
    this.fewer = false;
    this.room = 256;
    this.steps = new Float64Array(this.room);
    this.seeds = Array.from({ length: seeds }, () => new Float32Array(this.room));
    for (const name of ["mean", "low", "high", "count"]) this[name] = new Float32Array(this.room);
  }

  get last() { return this.n ? this.steps[this.n - 1] : -1; }

  append(steps, values, thinnedFrom) {
    let first = 0;
    while (first < steps.length && steps[first] <= this.last) first++;
    if (first === steps.length) return;
    this.thinnedFrom += first ? steps.length - first : thinnedFrom;
    while (this.n + steps.length - first > this.room) this.grow();
    for (let i = first; i < steps.length; i++) this.row(steps[i], values, i);
  }

  row(step, values, i) {
    let sum = 0, count = 0, low = Infinity, high = -Infinity;
    for (let s = 0; s < this.seeds.length; s++) {
      const v = values[s][i];
      this.seeds[s][this.n] = v;
      if (Number.isNaN(v)) continue;
      sum += v; count++;
      if (v < low) low = v;
      if (v > high) high = v;
    }
    this.steps[this.n] = step;
    this.mean[this.n] = count ? sum / count : NaN;
    this.low[this.n] = count ? low : NaN;
    this.high[this.n] = count ? high : NaN;
    this.count[this.n++] = count;
    if (count > this.most) this.most = count;
    if (count && count < this.most) this.fewer = true;
  }

  grow() {
    this.room *= 2;
    const wider = (old, Kind) => { const fresh = new Kind(this.room); fresh.set(old); return fresh; };
    this.steps = wider(this.steps, Float64Array);
    this.seeds = this.seeds.map((old) => wider(old, Float32Array));
    for (const name of ["mean", "low", "high", "count"]) this[name] = wider(this[name], Float32Array);
  }

  // Index of the last row at or before `step`, -1 where there is none.
  at(step) { return lastAtOrBefore(this.n, (i) => this.steps[i], step); }

  // Index of the nearest row that is shown, of those up to `until`; -1 where there is none.
  near(step, until) {
    const i = this.at(Math.min(step, until)), next = this.steps[i + 1];
    return i + 1 < this.n && next <= until && (i < 0 || next - step < step - this.steps[i]) ? i + 1 : i;
  }
}

export function lastAtOrBefore(n, stepOf, step) {
  let low = 0, high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stepOf(middle) <= step) low = middle + 1; else high = middle;
  }
  return low - 1;
}

export class Model {
  constructor() {
    this.hello = null;
    this.step = 0;
    this.seconds = 0;
    this.rate = 0;
    this.state = "waiting";
    this.selection = { arm: 0, seed: 0, layer: 0, head: 0, batch: false };
    this.events = [];
    this.unheard = 0;  // earlier spikes that were not told
    this.scales = {};  // how far axes reach, by kind of reading: the same for all arms and seeds
    this.forget();
  }

  // What is new or has other words since the last time; the same kind at the same step, arm and seed is one event.
  happened({ events, whole, n }) {
    const name = ([step, arm, seed, kind]) => [step, arm, seed, kind].join(), all = new Map((whole ? [] : this.events).concat(events).map((event) => [name(event), event]));
    this.events = [...all.values()].sort((a, b) => a[0] - b[0]);
    this.unheard = Math.max(0, n - this.events.length);
  }

  forget() {
    this.series = new Map();
    this.forgetFrames();
  }

  forgetFrames() {
    this.frames = { heads: new Map(), points: new Map(), map: new Map(), numbers: new Map(), grid: new Map(), table: new Map(), region: new Map() };
  }

  greet(hello) {
    const shape = (h) => h && JSON.stringify([h.columns.map(({ name }) => name), h.kinds, h.arms, h.seeds]);
    if (shape(this.hello) !== shape(hello)) this.forget();
    this.hello = hello;
    this.places = new Map(hello.columns.map((column, i) => [column.name, i]));
  }

  apply(update) {
    if (update.flags & FULL) this.forget();
    if (update.flags & RESELECTED) {
      this.forgetFrames();
      for (const key of this.series.keys()) {
        const column = this.hello.columns[Math.floor(key / 256)];
        if (column.per === "head" || column.name === "loss" || column.name === "parent/loss") this.series.delete(key);
      }
    }
    Object.assign(this, { step: update.step, seconds: update.seconds, rate: update.rate, state: update.state });
    for (const block of update.blocks) {
      if (block.type === "rows") this.addRows(block);
      else if (block.type === "heads") {
        const { step, layers, heads } = block;
        for (const [column, values] of block.values) this.addFrame("heads", column, { step, layers, heads, values });
      } else this.addFrame(block.type, block.kind, block);
    }
  }

  addFrame(type, key, frame) {
    const frames = this.frames[type];
    const part = ({ origin, queries, keys }) => String([origin, queries, keys]);
    // Another part of a map than before has a history of its own.
    if (!frames.has(key) || (type === "region" && frames.get(key).length && part(frames.get(key)[0]) !== part(frame))) frames.set(key, []);
    add(frames.get(key), frame);
  }

  addRows(block) {
    for (const { column, arm, values } of block.series) {
      const key = column * 256 + arm;
      if (block.fresh || !this.series.has(key)) this.series.set(key, new Series(values.length));
      this.series.get(key).append(block.steps, values, block.thinnedFrom);
    }
  }

  get(name, arm) {
    const place = this.places?.get(name);
    return place === undefined ? undefined : this.series.get(place * 256 + arm);
  }

  // Up to which step nothing is missing here; -1 asks for everything.
  since() {
    let least = Infinity;
    const wanted = new Set(this.selection.curves), here = new Set();
    for (const [key, series] of this.series) {
      const column = Math.floor(key / 256), per = this.hello?.columns[column]?.per;
      if (per === "group" || this.hello?.columns[column]?.name.startsWith("parent/") || (per === "head" && this.selection.curves && !wanted.has(column))) continue;
      here.add(column);
      least = Math.min(least, series.last);
    }
    // What has been asked for and is measured, but has not come, is missing from the start.
    for (const column of wanted) if (!here.has(column) && this.measured(this.hello.columns[column].name)) return -1;
    return Number.isFinite(least) ? least : -1;
  }

  overfull() {
    for (const series of this.series.values()) if (series.n > TOO_MANY_ROWS) return true;
    return false;
  }

  // Frames of a reading kind, oldest first; the type says of which shape.
  framesOf(type, kind) {
    return this.frames[type].get(type === "heads" ? this.places.get(kind) : this.hello.kinds.indexOf(kind)) || [];
  }

  // Whether some arm has recorded the column `kind/column`.
  measured(name) {
    const cut = name.indexOf("/"), [kind, column] = [name.slice(0, cut), name.slice(cut + 1)];
    return Object.values(this.hello.readings[kind] || {}).some(({ columns }) => columns?.includes(column));
  }

  // The present value of a column for the chosen layer and head, brought inside what the column has; undefined where none.
  value(name, step, layer = this.selection.layer, head = this.selection.head) {
    const frame = this.frameAt("heads", name, step);
    return frame && frame.values[Math.min(layer, frame.layers - 1) * frame.heads + Math.min(head, frame.heads - 1)];
  }

  frameAt(type, kind, step) {
    const frames = this.framesOf(type, kind);
    return frames[lastAtOrBefore(frames.length, (i) => frames[i].step, step)] || frames[0];
  }

  // Whether something of a kind has been read at exactly this step, for any arm that is known here.
  hasReading(kind, step) {
    const there = (frames) => Boolean(frames?.some((frame) => frame.step === step)), place = this.hello.kinds.indexOf(kind);
    if (there(this.frames.table.get(place)) || there(this.frames.numbers.get(place))) return true;
    return this.hello.columns.some(({ name }, column) => name.startsWith(`${kind}/`) && (there(this.frames.heads.get(column)) || this.hello.arms.some((_, arm) => {
      const series = this.get(name, arm), i = series ? series.at(step) : -1;
      return i >= 0 && series.steps[i] === step;
    })));
  }

  // Steps that have a picture, oldest first: where the playhead can stand exactly.
  steps() {
    let most = [];
    for (const type of ["heads", "points", "map", "numbers", "table"]) for (const frames of this.frames[type].values()) if (frames.length > most.length) most = frames;
    return most;
  }

  // The step that the pictures show when `step` is asked for.
  shownAt(step) {
    const frames = this.steps();
    return (frames[lastAtOrBefore(frames.length, (i) => frames[i].step, step)] || frames[0])?.step ?? null;
  }

  // Meta of a reading kind for an arm: words, units, provenance, or why it does not apply.
  meta(kind, arm) { return this.hello?.readings[kind]?.[arm]; }

  // Where the seeds of an arm stopped being numbers: [{seed, step, last}], step the first NaN's.
  diverged(arm) {
    const found = [];
    for (const name of ["test_loss", "train_loss", "loss"]) {
      const series = this.get(name, arm);
      if (!series) continue;
      series.seeds.forEach((values, s) => {
        if (found.some((f) => f.seed === s) || !series.n || !Number.isNaN(values[series.n - 1])) return;
        let i = series.n - 1;
        while (i >= 0 && Number.isNaN(values[i])) i--;
        found.push({ seed: s, step: series.steps[i + 1] });
      });
    }
    return found;
  }
}

function add(frames, frame) {
  // One that comes late has its place between the others.
  const before = lastAtOrBefore(frames.length, (i) => frames[i].step, frame.step);
  if (before >= 0 && frames[before].step === frame.step) frames[before] = frame;
  else frames.splice(before + 1, 0, frame);
  if (frames.length > TOO_MANY_FRAMES) {
    const half = frames.length >> 1;
    frames.splice(0, half, ...frames.slice(0, half).filter((_, i) => i % 2 === 0));
  }
}
