// The knobs: native sliders over values worth stopping at, each with its number; what depends on another follows it.

import { el, setText } from "./dom.js";

// [knob, other, how]: the other is moved along where a value of the first would leave it impossible.
const TIED = [
  ["length", "n_terms", (length, terms) => Math.min(terms, length)],
  ["n_terms", "length", (terms, length) => Math.max(length, terms)],
  ["modulus", "n_embeddings", (modulus, embeddings) => Math.max(embeddings, modulus)],
  ["n_embeddings", "modulus", (embeddings, modulus) => Math.min(modulus, embeddings)],
];

export function written(value) {
  if (value === 0) return "0";
  return Math.abs(value) < 1e-3 ? value.toExponential().replace("-", "−") : String(value);
}

// The place of the stop that is nearest, by ratio where all are above zero.
export function nearest(stops, value) {
  let best = 0;
  stops.forEach((stop, i) => { if (apart(stop, value) < apart(stops[best], value)) best = i; });
  return best;
}

const apart = (a, b) => (a > 0 && b > 0 ? Math.abs(Math.log(a / b)) : Math.abs(a - b) * 1e9);

export class Sliders {
  // `turned(name)` is called at every movement, `rested()` when a slider is let go.
  constructor(knobs, values, turned, rested) {
    Object.assign(this, { knobs, values: { ...values }, turned, rested, rows: new Map() });
    const groups = [...new Set(knobs.map(({ group }) => group))];
    this.node = el("div", { class: "acs-knobs" }, ...groups.map((group) => el("fieldset", {}, el("legend", {}, group), ...knobs.filter((knob) => knob.group === group).map((knob) => this.row(knob)))));
  }

  row(knob) {
    const { name, label, stops, help } = knob;
    const slider = el("input", { type: "range", min: "0", max: String(stops.length - 1), step: "1", value: String(nearest(stops, this.values[name])), id: `acs-knob-${name}`, "aria-describedby": `acs-help-${name}`, oninput: () => this.moved(knob), onchange: () => this.rested() });
    const told = el("output", { for: slider.id });
    this.rows.set(name, { knob, slider, told });
    const node = el("div", { class: "acs-knob", title: help }, el("label", { htmlFor: slider.id }, label), told, slider, el("span", { class: "acs-hidden", id: `acs-help-${name}` }, help));
    this.write(name);
    return node;
  }

  moved({ name, stops }) {
    this.values[name] = stops[Number(this.rows.get(name).slider.value)];
    this.write(name);
    for (const [first, other, how] of TIED) {
      const now = first === name ? how(this.values[first], this.values[other]) : this.values[other];
      if (now !== this.values[other]) this.set(other, now);
    }
    this.turned(name);
  }

  set(name, value) {
    const { knob, slider } = this.rows.get(name);
    this.values[name] = value;
    slider.value = String(nearest(knob.stops, value));
    this.write(name);
  }

  reset(values) {
    for (const [name, value] of Object.entries(values)) this.set(name, value);
    this.turned("");
    this.rested();
  }

  write(name) {
    const { slider, told, knob } = this.rows.get(name), text = written(this.values[name]);
    setText(told, text);
    slider.setAttribute("aria-valuetext", text);
    slider.style.setProperty("--part", `${(100 * Number(slider.value)) / Math.max(1, knob.stops.length - 1)}%`);
  }
}
