// The visual model worked out in the browser from its weights: all that its pictures show, for any sequence.

const EPSILON = 1e-5;  // added to the root mean square, as in sandbox/models/visual_model.py

// Weights by name, as flat arrays, from one frame of numbers and the reading's meta.
export function weightsOf(frame, meta) {
  const found = {};
  let at = 0;
  meta.names.forEach((name, i) => {
    const size = meta.shapes[i].reduce((a, b) => a * b, 1);
    found[name] = frame.values.subarray(at, at + size);
    at += size;
  });
  const shape = (name) => meta.shapes[meta.names.indexOf(name)];
  return { w: found, d: shape("tokens")[1], tokens: shape("tokens")[0], positions: shape("positions")[0], hidden: shape("up.bias")[0] };
}

const rows = (flat, n, d) => Array.from({ length: n }, (_, i) => Array.from(flat.subarray(i * d, (i + 1) * d)));
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
const add = (a, b) => a.map((value, i) => value + b[i]);

export function normalized(x) {
  const size = Math.sqrt(dot(x, x) / x.length) + EPSILON;
  return x.map((value) => value / size);
}

export function softmax(scores) {
  const most = Math.max(...scores), parts = scores.map((s) => Math.exp(s - most)), sum = parts.reduce((a, b) => a + b, 0);
  return parts.map((part) => part / sum);
}

// Abramowitz and Stegun 7.1.26: off by at most 1.5e-7.
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const y = 1 - ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-x * x);
  return x < 0 ? -y : y;
}
const gelu = (x) => (x * (1 + erf(x / Math.SQRT2))) / 2;

export class VisualModel {
  constructor(frame, meta) {
    const { w, d, tokens, positions, hidden } = weightsOf(frame, meta);
    Object.assign(this, { meta, d, nTokens: tokens, nPositions: positions, nHidden: hidden, classes: meta.class_labels.length });
    this.E = rows(w.tokens, tokens, d);
    this.P = rows(w.positions, positions, d);
    this.query = Array.from(w.query);
    this.V = rows(w["w_value.weight"], d, d);
    this.receptors = rows(w["up.weight"], hidden, d);
    this.upBias = w["up.bias"];
    this.down = rows(w["down.weight"], d, hidden);
    this.assemblers = Array.from({ length: hidden }, (_, j) => this.down.map((row) => row[j]));
    this.downBias = Array.from(w["down.bias"]);
    this.finite = frame.values.every(Number.isFinite);
  }

  sum(token, position) { return add(this.E[token], this.P[position]); }

  value(z) { return this.V.map((row) => dot(row, z)); }

  // Direction, score and value of a token at a position: the same in every sequence, so worked out once.
  seat(token, t) {
    this.seats ||= [];
    const at = t * this.nTokens + token;
    if (!this.seats[at]) {
      const z = normalized(this.sum(token, t));
      this.seats[at] = { z, score: dot(this.query, z) / Math.sqrt(this.d), value: this.value(z) };
    }
    return this.seats[at];
  }

  // One row of attention over the positions of a sequence, and the sequence embedding xi.
  attend(sequence) {
    const seats = sequence.map((token, t) => this.seat(token, t)), row = softmax(seats.map((seat) => seat.score));
    const xi = new Array(this.d).fill(0);
    seats.forEach(({ value }, t) => { for (let i = 0; i < this.d; i++) xi[i] += row[t] * value[i]; });
    return { row, xi };
  }

  // How much each neuron is awake at xi.
  awake(xi) {
    const x = normalized(xi), out = new Float64Array(this.nHidden);
    for (let j = 0; j < this.nHidden; j++) {
      const row = this.receptors[j];
      let sum = this.upBias[j];
      for (let i = 0; i < this.d; i++) sum += row[i] * x[i];
      out[j] = gelu(sum);
    }
    return out;
  }

  feed(xi) {
    const awake = this.awake(xi);
    return this.down.map((row, i) => {
      let sum = this.downBias[i];
      for (let j = 0; j < this.nHidden; j++) sum += row[j] * awake[j];
      return sum;
    });
  }

  probabilities(h) { return softmax(this.E.map((row) => dot(row, h))); }

  answer(xi) { return this.probabilities(add(xi, this.feed(xi))); }

  // Everything about a list of sequences; what lies behind the feed-forward part is worked out when it is asked for.
  look(sequences) { return sequences.map((sequence) => new Look(this, sequence)); }

  // The mean activity of each neuron over sequences that were looked at.
  activity(seen) {
    const sum = new Array(this.nHidden).fill(0);
    for (const { xi } of seen) this.awake(xi).forEach((a, j) => { sum[j] += Math.abs(a) / seen.length; });
    return sum;
  }
}

class Look {
  constructor(model, sequence) { Object.assign(this, { model, sequence }, model.attend(sequence)); }

  get nxi() { return normalized(this.xi); }
  get ffn() { return (this.fed ||= this.model.feed(this.xi)); }
  get h() { return add(this.xi, this.ffn); }
  get p() { return (this.shares ||= this.model.probabilities(this.h)); }
}

// Two fixed axes for points wider than the plane: the two largest principal ones of the points given, always the same.
export function principalPlane(points) {
  const d = points[0].length;
  if (d === 2) return { centre: [0, 0], axes: [[1, 0], [0, 1]], exact: true };
  const centre = points.reduce((a, x) => add(a, x), new Array(d).fill(0)).map((v) => v / points.length);
  let rest = points.map((x) => x.map((v, i) => v - centre[i]));
  const axes = [];
  for (let k = 0; k < 2; k++) {
    let axis = Array.from({ length: d }, (_, i) => 1 / (i + 1 + k));
    for (let turn = 0; turn < 60; turn++) {
      const next = new Array(d).fill(0);
      for (const x of rest) { const along = dot(x, axis); x.forEach((v, i) => { next[i] += along * v; }); }
      const size = Math.sqrt(dot(next, next));
      if (!(size > 0)) break;
      axis = next.map((v) => v / size);
    }
    const size = Math.sqrt(dot(axis, axis));
    axis = axis.map((v) => v / size);
    axes.push(axis);
    rest = rest.map((x) => { const along = dot(x, axis); return x.map((v, i) => v - along * axis[i]); });
  }
  return { centre, axes, exact: false };
}

export const inPlane = (plane, x) => plane.axes.map((axis) => axis.reduce((sum, a, i) => sum + a * (x[i] - plane.centre[i]), 0));
export const fromPlane = (plane, [a, b]) => plane.centre.map((c, i) => c + a * plane.axes[0][i] + b * plane.axes[1][i]);
