// What the visual model's pictures share: the model of each frame, the probe's sequences, and what is pointed at.

import { markedKey, placeOf } from "./marks.js";
import { inPlane, principalPlane, VisualModel } from "./visual.js";

const SPACES = { E: "sum", P: "sum", "E+P": "sum", z: "z", values: "values", xi: "xi", nxi: "nxi", receptors: "nxi", assemblers: "h", ffn: "h", h: "h" };

export class Pictures {
  constructor(view) {
    Object.assign(this, { view, own: null });
    this.forget();
  }

  forget() { Object.assign(this, { models: new WeakMap(), looks: new WeakMap(), planes: new Map(), layers: new WeakMap() }); }

  frames(panel) { return this.view.model.framesOf("numbers", panel.reading); }

  meta(panel) {
    const meta = this.view.model.meta(panel.reading, this.view.model.selection.arm);
    return meta?.names ? meta : null;
  }

  model(frame, meta) {
    if (!this.models.has(frame)) this.models.set(frame, new VisualModel(frame, meta));
    return this.models.get(frame);
  }

  // What the model makes of the probe's sequences.
  look(frame, meta) {
    if (!this.looks.has(frame)) this.looks.set(frame, this.model(frame, meta).look(meta.tokens));
    return this.looks.get(frame);
  }

  // The viewer's own sequence, where there is one that this model can read.
  ownLook(frame, meta) {
    if (!this.own || this.own.length !== meta.tokens[0].length) return null;
    return this.model(frame, meta).look([this.own])[0];
  }

  // Points of one layer: {points (in d dimensions), keys, labels, groups, colours, shapes, sizes}.
  layer(name, frame, meta) {
    if (!this.layers.has(frame)) this.layers.set(frame, new Map());
    const known = this.layers.get(frame);
    if (!known.has(name)) known.set(name, LAYERS[name](this.model(frame, meta), meta, () => this.look(frame, meta)));
    return known.get(name);
  }

  // The plane in which a layer is drawn: one for the run, all arms and seeds, as the server tells it with the scales.
  plane(name, frame, meta, first) {
    const model = this.model(frame, meta), space = SPACES[name];
    if (model.d === 2) return { centre: [0, 0], axes: [[1, 0], [0, 1]], exact: true };
    const from = space === "sum" ? "E+P" : space, told = Object.values(this.view.model.scales).find(({ planes }) => planes)?.planes[from];
    if (told) return told;
    // A recording of an earlier version tells none: then the first frame that is known of this selection.
    const { arm, seed } = this.view.model.selection, key = `${arm}/${seed}/${space}`;
    if (!this.planes.has(key)) this.planes.set(key, { ...principalPlane(this.layer(from, first, meta).points), step: first.step });
    return this.planes.get(key);
  }

  placed(name, frame, meta, first) {
    const layer = this.layer(name, frame, meta), plane = this.plane(name, frame, meta, first);
    if (!layer.placed) layer.placed = layer.points.map((x) => inPlane(plane, x));
    return layer;
  }

  // Keys that belong to what is pointed at or pinned: a sequence brings its tokens with it.
  marked(meta) {
    const key = markedKey(this.view);
    if (!key) return null;
    const found = new Set([key]), [what, which] = key.split(":"), place = placeOf(key);
    if (place !== null && what !== "token") {
      found.add(`position:${place}`);
      meta.token_labels.forEach((_, token) => found.add(`token:${token}@${place}`));
    }
    if (what === "sequence") (which === "own" ? this.own : meta.tokens[Number(which)])?.forEach((token, t) => found.add(`token:${token}@${t}`));
    if (what === "token") found.add(`position:${which.split("@")[1]}`);
    return found;
  }

  // What the model answers to the own sequence, in words.
  said(frame, meta) {
    const look = this.ownLook(frame, meta);
    if (!look) return "";
    const best = look.p.indexOf(Math.max(...look.p.slice(0, meta.class_labels.length)));
    const terms = meta.n_prefix, right = terms ? this.own.slice(0, terms).reduce((a, b) => a + b, 0) % meta.class_labels.length : null;
    return `answer ${meta.class_labels[best] ?? best} with p = ${look.p[best].toFixed(3)}${right === null ? "" : best === right ? ", right" : `, wrong: it is ${meta.class_labels[right]}`}`;
  }
}

const words = (meta, sequence) => sequence.map((token) => meta.token_labels[token]).join(" ");
const isPrefix = (meta, t) => meta.n_prefix !== null && t < meta.n_prefix;

function ofTokens(model, meta, make) {
  const layer = empty();
  for (let t = 0; t < model.nPositions; t++) {
    meta.token_labels.forEach((label, token) => push(layer, make(token, t), `token:${token}@${t}`, `${label}@${t + 1}`, `token ${label}`, token, isPrefix(meta, t) ? "square" : "circle"));
  }
  layer.shapes.note = meta.n_prefix === null ? "" : "squares: prefix";
  return layer;
}

function ofSequences(model, meta, seen, field) {
  const layer = empty();
  seen().forEach((look, i) => push(layer, look[field], `sequence:${i}`, words(meta, look.sequence), `class ${meta.class_labels[meta.classes[i]]}`, meta.classes[i], ["circle", "square", "triangle-up", "diamond"][meta.classes[i] % 4]));
  layer.sequences = true;
  return layer;
}

function ofNeurons(model, rows, seen) {
  const layer = empty(), activity = model.activity(seen()), most = Math.max(...activity, 1e-9);
  rows.forEach((row, j) => push(layer, row, `neuron:${j}`, `neuron ${j + 1}, activity ${activity[j].toFixed(2)}`, "neuron", 2, "circle", 2.5 + 5 * (activity[j] / most)));
  layer.quiet = true;
  return layer;
}

const empty = () => ({ points: [], keys: [], labels: [], groups: [], colours: [], shapes: [], sizes: [] });

function push(layer, point, key, label, group, colour, shape = "circle", size = 4) {
  layer.points.push(point); layer.keys.push(key); layer.labels.push(label); layer.groups.push(group);
  layer.colours.push(colour); layer.shapes.push(shape); layer.sizes.push(size);
}

const LAYERS = {
  E(model, meta) {
    const layer = empty();
    model.E.forEach((row, token) => push(layer, row, `answer:${token}`, meta.token_labels[token] ?? `spare ${token + 1}`, token < meta.token_labels.length ? `token ${meta.token_labels[token]}` : "spare", token, "cross", 5));
    return layer;
  },
  P(model, meta) {
    const layer = empty();
    model.P.forEach((row, t) => push(layer, row, `position:${t}`, String(t + 1), isPrefix(meta, t) ? "prefix" : "other position", isPrefix(meta, t) ? 2 : 7, isPrefix(meta, t) ? "square" : "circle"));
    return layer;
  },
  "E+P": (model, meta) => ofTokens(model, meta, (token, t) => model.sum(token, t)),
  z: (model, meta) => ofTokens(model, meta, (token, t) => model.seat(token, t).z),
  values: (model, meta) => ofTokens(model, meta, (token, t) => model.seat(token, t).value),
  xi: (model, meta, seen) => ofSequences(model, meta, seen, "xi"),
  nxi: (model, meta, seen) => ofSequences(model, meta, seen, "nxi"),
  h: (model, meta, seen) => ofSequences(model, meta, seen, "h"),
  ffn(model, meta, seen) {
    const layer = ofSequences(model, meta, seen, "ffn");
    return Object.assign(layer, { hollow: true, joined: "h", groups: layer.groups.map((name) => `${name}, FFN alone`) });
  },
  receptors: (model, meta, seen) => ofNeurons(model, model.receptors, seen),
  assemblers: (model, meta, seen) => ofNeurons(model, model.assemblers, seen),
};
