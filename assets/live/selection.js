// The legend and the choice in one place: arms with their line, marker and latest accuracy; seed, layer and head.

import { el, number, onArrows, setBoxed, setText, share } from "./dom.js";
import { armKey, armStyle, prepare, sizeOf } from "./theme.js";

export class SelectionCard {
  constructor(view) {
    this.view = view;
    this.arms = el("div", { class: "acs-arms", role: "radiogroup", "aria-label": "Arm shown in the pictures" });
    this.places = el("div", { class: "acs-places" });
    this.legend = el("p", { class: "acs-legend" });
    this.node = el("section", { class: "acs-panel acs-third acs-card" }, el("header", {}, el("h3", {}, "Arms and selection")),
      el("p", { class: "acs-sentence" }, "Curves show every arm; the pictures show the arm, seed and head chosen here."),
      this.arms, this.places, this.legend);
  }

  // Anew whenever the hello changes.
  build() {
    const { view } = this, { hello } = view.model;
    this.rows = hello.arms.map((name, arm) => {
      const swatch = el("canvas", { class: "acs-swatch" });
      const value = el("span", { class: "acs-boxed" });
      const eye = el("button", { type: "button", class: "acs-eye", "aria-pressed": "true", title: `Show or hide ${name} on the curves`, "aria-label": `Show ${name} on the curves`, onclick: () => view.toggleArm(arm) }, swatch);
      const pick = el("button", { type: "button", class: "acs-arm", role: "radio", "aria-checked": "false", onclick: () => view.select({ arm }) }, el("span", { class: "acs-name" }, name), el("span", { class: "acs-value", title: "Held-out accuracy, mean over seeds" }, value));
      onArrows(pick, () => this.rows.map((row) => row.pick));
      return { arm, swatch, value, eye, pick, node: el("div", { class: "acs-armrow" }, eye, pick) };
    });
    this.arms.replaceChildren(...this.rows.map((row) => row.node));
    const choice = (label, field, options, words) => {
      const buttons = options.map((_, i) => el("button", { type: "button", role: "radio", "aria-checked": "false", onclick: () => view.select({ [field]: i }) }, el("span", { class: "acs-boxed" })));
      buttons.forEach((button) => onArrows(button, () => buttons));
      return { field, buttons, words, node: el("div", { class: "acs-choice" }, el("span", {}, label), el("div", { role: "radiogroup", "aria-label": label, class: "acs-segments" }, ...buttons)) };
    };
    const upTo = (n) => Array.from({ length: n }, (_, i) => i);
    this.choices = [choice("Seed", "seed", hello.seeds, (i) => String(hello.seeds[i]))];
    if (hello.layers > 1) this.choices.push(choice("Layer", "layer", upTo(hello.layers), (i) => String(i + 1)));
    this.choices.push(choice("Head", "head", upTo(hello.heads), (i) => this.headWords(i)));
    this.places.replaceChildren(...this.choices.map((c) => c.node));
    const n = hello.seeds.length;
    setText(this.legend, n > 1 ? `Thick: mean of ${n} seeds. Shade: least to greatest. Thin: each seed.` : "One seed: no mean, no band. More seeds say how far the outcome is luck.");
  }

  headWords(head) {
    const { model } = this.view;
    const value = model.value("attention entropy/entropy", this.view.until(), model.selection.layer, head);
    return value === undefined ? String(head + 1) : `${head + 1} · H ${number(value)}`;
  }

  draw() {
    const { view } = this, { model, theme } = view;
    if (!this.rows) return;
    for (const row of this.rows) {
      const chosen = model.selection.arm === row.arm;
      row.pick.setAttribute("aria-checked", String(chosen));
      row.pick.tabIndex = chosen ? 0 : -1;
      row.eye.setAttribute("aria-pressed", String(!view.hidden.has(row.arm)));
      const series = model.get("test_accuracy", row.arm), i = series ? series.at(view.until()) : -1;
      const lost = model.diverged(row.arm).filter((d) => d.step <= view.until()).length;
      setBoxed(row.value, i < 0 ? "" : `${share(series.mean[i])}${lost ? ` · ${lost} NaN` : ""}`);
      if (row.drawnFor !== this.look(row)) this.swatch(row);
    }
    for (const { field, buttons, words } of this.choices) {
      buttons.forEach((button, i) => {
        setBoxed(button.firstChild, words(i));
        button.setAttribute("aria-checked", String(model.selection[field] === i));
        button.tabIndex = model.selection[field] === i ? 0 : -1;
      });
    }
  }

  look(row) { return `${this.view.theme.background}${this.view.hidden.has(row.arm)}${sizeOf(row.swatch)}`; }

  swatch(row) {
    const { theme, hidden } = this.view;
    if (!sizeOf(row.swatch)[0]) return;  // out of sight: preparing it would wipe what is kept
    const { context, width, height } = prepare(row.swatch);
    row.drawnFor = this.look(row);
    const style = armStyle(theme, row.arm);
    context.globalAlpha = hidden.has(row.arm) ? 0.25 : 1;
    armKey(context, style, width, height, 2.2, 4);
  }
}
