// The parent's ghost: its curves, thin and pale, behind those of the run that goes on from it; and where the two part.

import { counted, el, setHidden, setText, whole } from "./dom.js";
import { armStyle } from "./theme.js";

const BEFORE = "parent/";
const PARTED = "divergence", ALIKE = "no difference";

export class Ghost {
  constructor(view) {
    this.view = view;
    this.on = true;
    this.chip = el("button", { type: "button", class: "acs-chip acs-ghost-chip", "aria-pressed": "true", onclick: () => this.toggle() });
    this.origin = el("span", {});
    this.found = el("button", { type: "button", class: "acs-chip acs-parted", hidden: true, onclick: () => view.transport.go(this.at) });
    this.same = el("span", { class: "acs-said" });
    this.node = el("div", { class: "acs-words acs-lineage", hidden: true }, this.chip, this.origin, this.found, this.same);
  }

  get parent() { return this.view.model.hello?.parent || null; }

  toggle() {
    this.on = !this.on;
    this.chip.setAttribute("aria-pressed", String(this.on));
    this.view.wish();
    this.view.schedule();
  }

  // What the parent's curve beside the column is called; it travels only while the ghost is shown.
  named(column) { return this.parent && this.on ? [BEFORE + column] : []; }

  // The parent's series that belong to the shown curves, as the curves themselves are listed.
  lines(curves, shown) {
    const { model, hidden } = this.view;
    if (!this.parent || !this.on) return [];
    return curves.filter(({ column }) => shown.has(column) && model.places.has(BEFORE + column)).flatMap((curve) =>
      model.hello.arms.map((name, arm) => ({ curve, arm, name, series: hidden.has(arm) ? null : model.get(BEFORE + curve.column, arm), to: null })).filter(({ series }) => series?.n));
  }

  // The parent's series beside one column of an arm that is shown; undefined where there is none.
  beside(column, arm) {
    const series = this.parent && this.on && !this.view.hidden.has(arm) ? this.view.model.get(BEFORE + column, arm) : undefined;
    return series?.n ? series : undefined;
  }

  // Who the seeds of a parent's series are, in words.
  get who() { return `parent ${this.parent.run}${this.parent.mean ? `, mean of ${counted(this.parent.mean, "seed")}` : ""}`; }

  draw(context, theme, { arm, curve, series }, stroke) {
    context.strokeStyle = armStyle(theme, arm).colour;
    context.lineWidth = 0.8;
    context.globalAlpha = 0.16;
    const many = series.seeds.length > 1 && !this.parent.mean;
    if (curve.seeds && many) for (const values of series.seeds) stroke(values);
    context.globalAlpha = 0.42;
    context.lineWidth = 1;
    context.setLineDash(curve.style === "solid" ? [] : [5, 4]);
    stroke(series.mean);
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  // The steps to mark in every curve: where the run goes on, and where it is first another than its parent.
  marks() {
    if (!this.parent || !this.on) return [];
    return [...(this.parent.step ? [this.parent.step] : []), ...(this.parted() ? [this.parted()[0]] : [])];
  }

  parted() {
    const found = this.view.model.events.filter(([, , , kind]) => kind === PARTED);
    return found.length ? found.reduce((a, b) => (b[0] < a[0] ? b : a)) : null;
  }

  write() {
    const { parent, view } = this;
    setHidden(this.node, !parent);
    if (!parent) return;
    const { events } = view.model, parted = this.parted();
    setText(this.chip, `Ghost of ${parent.run}`);
    this.chip.title = `Thin pale lines: ${parent.mean ? `mean over the ${parent.mean} seeds of ` : ""}the parent, up to its step ${whole(parent.last)}. Press to ${this.on ? "hide" : "show"} them.`;
    setText(this.origin, `${parent.step ? `goes on from step ${whole(parent.step)} of ${parent.run}` : `starts anew beside ${parent.run}`}${parent.changed.length ? `: ${parent.changed.join(", ")}` : ""}`);
    setHidden(this.found, !parted);
    if (parted) {
      this.at = parted[0];
      setText(this.found, `first difference at step ${whole(this.at)}`);
      this.found.title = `${view.transport.words(parted)}. Press to look at that step.`;
    }
    const all = events.filter(([, , , kind]) => kind === ALIKE), arms = view.model.hello.arms;
    setText(this.same, all.length ? `no difference up to step ${whole(Math.min(...all.map(([step]) => step)))}${all.length < arms.length ? `: ${all.map(([, arm]) => arms[arm]).join(", ")}` : ": the same bits"}` : parted || parent.mean || parent.last <= parent.step ? "" : "no difference so far");
  }
}
