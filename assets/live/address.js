// The address of what is shown: a button copies it, and a link that was followed restores it.

import { chipsFor } from "./chips.js";
import { el } from "./dom.js";
import { REACHES } from "./smooth.js";

const SCHEMA = 1, WORDS = "Copy link", SAID_FOR = 4000;

export class Address {
  constructor(view) {
    this.view = view;
    if (!view.data.address) return;
    this.button = el("button", { type: "button", class: "acs-button acs-small acs-copy", title: "Copy a link to exactly this: step, selection, panels, axes, smoothing, zoom", onclick: () => this.copy() }, WORDS);
    view.header.tools.prepend(this.button);
    if (!view.data.shown) return;
    const once = () => {
      if (!view.model.hello || !view.panels.length) return;
      view.root.removeEventListener("acs-drawn", once);
      this.restore(view.data.shown);
    };
    view.root.addEventListener("acs-drawn", once);
  }

  // Everything that a link restores, as JSON; sandbox/ui/view_link.py reads the same.
  plain() {
    const { view } = this, { arm, seed, layer, head } = view.model.selection;
    const curves = view.panels.filter(({ chart }) => chart.shown);
    return {
      schema: SCHEMA, step: view.viewing === null ? null : Math.round(view.viewing), arm, seed, layer, head,
      pinned: view.pinned || "", zoom: view.zoom ? [view.zoom[0], view.zoom[1]] : null,
      hidden: [...view.hidden].sort((a, b) => a - b), filled: view.filled?.declared.kind || "",
      open: view.sections.filter(({ open }) => open).map(({ name }) => name),
      panels: Object.fromEntries(curves.map(({ declared, chart }) => [declared.kind, { log: Boolean(chart.log), smoothed: chart.smoothed || 0, shown: [...chart.shown] }])),
    };
  }

  link() {
    const found = new URL(this.view.data.address, document.baseURI), bytes = new TextEncoder().encode(JSON.stringify(this.plain()));
    const packed = btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
    found.searchParams.set("view", `${SCHEMA}.${packed}`);
    return found.href;
  }

  async copy() {
    const link = this.link();
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(link);
    } catch {  // no clipboard on this page: the address bar has it
      history.replaceState(history.state, "", link);
      said = "In the address bar";
    }
    this.button.textContent = said;
    setTimeout(() => { this.button.textContent = WORDS; }, SAID_FOR);
  }

  restore(said) {
    const { view } = this;
    for (const panel of view.panels) {
      const how = said.panels[panel.declared.kind], { chart } = panel;
      if (!how || !chart.shown) continue;
      const known = how.shown.filter((column) => panel.declared.curves.some((curve) => curve.column === column));
      if (known.length) chart.shown = new Set(known);
      if (how.log !== Boolean(chart.log)) chart.scaleBy(how.log);
      chart.smoothed = Math.min(how.smoothed, REACHES.length - 1);
      panel.chips.replaceChildren(...chipsFor(panel));
    }
    for (const section of view.sections) section.unfold(said.open.includes(section.name));
    view.hidden = new Set(said.hidden);
    Object.assign(view, { zoom: said.zoom, pinned: said.pinned || null, viewing: said.step ?? view.viewing });
    const batch = view.panels.some(({ chart }) => chart.shown?.has("loss"));
    const { arm, seed, layer, head } = said;
    view.select({ arm, seed, layer, head, batch });
    view.wish();
    view.fill(view.panels.find(({ declared }) => declared.kind === said.filled) || null);
    view.root.dataset.restored = "yes";
    view.schedule();
  }
}
