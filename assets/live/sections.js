// Folded groups of panels below the standard ones: closed, they cost neither bytes nor drawing.

import { el, setHidden, setText } from "./dom.js";

export class Section {
  constructor(name, panels, view) {
    Object.assign(this, { name, panels, view, open: false });
    const id = `acs-section-${name.replace(/\W+/g, "-").toLowerCase()}`;
    this.button = el("button", { type: "button", class: "acs-unfold", "aria-expanded": "false", "aria-controls": id, onclick: () => this.unfold(!this.open) },
      el("span", {}, name), el("small", {}, panels.map(({ declared }) => declared.title).join(" · ")));
    const curves = panels.some(({ declared }) => declared.renderer === "curves"), places = panels.length + panels.filter(({ declared }) => declared.renderer === "happenings").length;
    this.grid = el("div", { class: curves && places === 5 ? "acs-grid acs-five" : "acs-grid", id, hidden: true }, ...panels.map((panel) => panel.node));
    this.node = el("section", { class: "acs-section", "data-section": name }, this.button, this.grid);
    for (const panel of panels) panel.folded = true;
  }

  unfold(open) {
    this.open = open;
    this.show(open);
    this.view.wish();
    this.view.schedule();
  }

  show(open) {
    this.grid.hidden = !open;
    this.button.setAttribute("aria-expanded", String(this.open));
    for (const panel of this.panels) panel.folded = !open;
  }

  // On a projector a section stands open where one of its panels is shown, whatever it was before.
  project(on, shown) {
    setHidden(this.node, on && !shown);
    this.button.hidden = on;
    this.show(on ? shown : this.open);
  }
}

// A line above the visual model's pictures: a sequence of one's own, drawn as a star in all of them.
export class OwnSequence {
  constructor(view) {
    this.view = view;
    this.input = el("input", { type: "text", class: "acs-own", "aria-label": "Your sequence", autocomplete: "off", spellcheck: false, oninput: () => this.read() });
    this.said = el("span", { class: "acs-said", role: "status" });
    this.node = el("div", { class: "acs-probe" }, el("label", {}, "Your sequence ", this.input), this.said);
  }

  get meta() {
    const { model } = this.view;
    return model.meta("visual weights", model.selection.arm);
  }

  read() {
    const { view, meta } = this, text = this.input.value.trim();
    view.pictures.own = null;
    this.trouble = "";
    if (text && meta?.token_labels) {
      const parts = /[\s,]/.test(text) ? text.split(/[\s,]+/) : [...text], tokens = parts.map((part) => meta.token_labels.indexOf(part));
      const wrong = tokens.indexOf(-1), need = meta.tokens[0].length;
      if (wrong >= 0) this.trouble = `“${parts[wrong]}” is no token; choose from ${meta.token_labels[0]} to ${meta.token_labels[meta.token_labels.length - 1]}.`;
      else if (tokens.length !== need) this.trouble = `${tokens.length} of ${need} tokens`;
      else view.pictures.own = tokens;
    }
    view.schedule();
  }

  draw() {
    const { view, meta } = this;
    setHidden(this.node, !meta?.tokens);
    if (!meta?.tokens) return;
    if (!this.input.placeholder) this.input.placeholder = meta.tokens[0].map((token) => meta.token_labels[token]).join(" ");
    const frame = view.model.frameAt("numbers", "visual weights", view.until());
    setText(this.said, this.trouble || (frame && view.pictures.own ? view.pictures.said(frame, meta) : "A star marks it in every picture; a click pins a point everywhere."));
  }
}
