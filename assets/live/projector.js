// Projector: the view alone on the screen, two panels of one's choice, text of at least 24 pixels.

import { el } from "./dom.js";
import { armKey, armStyle } from "./theme.js";

const SCALE = 2.2;  // 11 pixels become 24
const FIRST = ["trajectories", "accuracy"];
const OF_ARMS = ["curves", "groups", "happenings"];  // pictures in which a colour is an arm
const KEY = [64, 28];  // pixels of an arm's mark

export class Projector {
  constructor(view) {
    this.view = view;
    this.on = false;
    this.button = el("button", { type: "button", class: "acs-button acs-small", "aria-pressed": "false", title: "Projector: two panels in large type (P)", onclick: () => this.toggle() }, "Projector");
    this.choices = FIRST.map((_, i) => el("select", { class: "acs-speed", "aria-label": i ? "Right panel" : "Left panel", onchange: () => this.arrange() }));
    this.arms = el("div", { class: "acs-arm-keys" });
    this.node = el("div", { class: "acs-projected", hidden: true }, ...this.choices, this.arms);
  }

  build() {
    const kept = this.choices.map((choice) => choice.value);
    this.choices.forEach((choice, i) => {
      choice.replaceChildren(...this.view.panels.map(({ declared }) => el("option", { value: declared.kind }, declared.title)), ...(i ? [el("option", { value: "" }, "nothing")] : []));
      choice.value = kept[i] || FIRST[i];
      if (choice.selectedIndex < 0) choice.selectedIndex = Math.min(i, choice.options.length - 1);
    });
  }

  get kinds() { return this.choices.map((choice) => choice.value); }

  // Go on the projector with these two panels; those that are not here are returned.
  show(kinds) {
    const known = (kind) => kind === "" || this.view.panels.some(({ declared }) => declared.kind === kind);
    this.choices.forEach((choice, i) => { if (kinds[i] !== undefined && known(kinds[i])) choice.value = kinds[i]; });
    if (this.on) this.arrange();
    else this.toggle();
    return kinds.filter((kind) => !known(kind));
  }

  shows(panel) { return this.choices.some((choice) => choice.value === panel.declared.kind); }

  scaleOf(panel) { return this.on && this.shows(panel) ? SCALE : 1; }

  toggle() {
    const { view } = this, { root } = view;
    if (!view.panels.length) return;
    view.fill(null);
    this.on = !this.on;
    if (this.on) {
      this.scrolled = window.scrollY;
      root.popover = "manual";
      root.showPopover();
    } else {
      root.hidePopover();
      root.removeAttribute("popover");
    }
    root.classList.toggle("acs-projector", this.on);
    this.node.hidden = !this.on;
    this.button.setAttribute("aria-pressed", String(this.on));
    this.arrange();
    if (!this.on) window.scrollTo(0, this.scrolled);
    this.button.focus({ preventScroll: true });
  }

  // The two that are shown stand side by side wherever they come from; sections unfold for them.
  arrange() {
    const { view } = this;
    for (const panel of view.panels) {
      panel.node.hidden = this.on && !this.shows(panel);
      panel.node.style.order = this.on ? String(this.choices.findIndex((choice) => choice.value === panel.declared.kind)) : "";
      panel.canvas.scale = this.scaleOf(panel);
    }
    this.arms.hidden = !view.panels.some((panel) => this.shows(panel) && OF_ARMS.includes(panel.declared.renderer));
    if (this.on) this.arms.replaceChildren(...view.model.hello.arms.map((name, arm) => el("span", {}, this.mark(arm), name)));
    for (const section of view.sections) section.project(this.on, section.panels.some((panel) => this.shows(panel)));
    view.wish();
    view.schedule();
  }

  // An arm's line and marker, as its curves have them; the card that shows them otherwise is hidden.
  mark(arm) {
    const [width, height] = KEY, { theme, hidden } = this.view, style = armStyle(theme, arm);
    const canvas = el("canvas", { width: 2 * width, height: 2 * height, "aria-hidden": "true", style: { width: `${width}px`, height: `${height}px`, opacity: hidden.has(arm) ? 0.3 : 1 } });
    const context = canvas.getContext("2d");
    context.scale(2, 2);
    armKey(context, style, width, height, 4, 9);
    return canvas;
  }
}
