// The address of what is shown: a button copies it, and a link that was followed restores it.

import { chipsFor } from "./chips.js";
import { el } from "./dom.js";
import { REACHES } from "./smooth.js";

const SCHEMA = 1, WORDS = "Copy link", SAID_FOR = 4000;

// How a panel is looked at: its axis, its smoothing, its curves, and which of its other buttons are pressed.
function looks({ chart, chips }) {
  const of = { log: Boolean(chart.log && chart.shown), smoothed: (chart.shown && chart.smoothed) || 0, shown: [...(chart.shown || [])] };
  return { ...of, options: chart.shown ? [] : buttons(chips).filter(pressed).map((button) => button.textContent) };
}

const pressed = (button) => button.getAttribute("aria-pressed") === "true";
const buttons = (chips) => [...chips.querySelectorAll("button[aria-pressed]")].filter((button) => !button.hidden);
const chosen = (how) => how.log || how.smoothed || how.options.length;

// Look at a panel in that way; what it does not have is returned.
function look(panel, how) {
  const { chart, declared } = panel;
  if (!chart.shown) {
    for (const button of buttons(panel.chips)) if (how.options.includes(button.textContent) && !pressed(button)) button.click();
    const has = buttons(panel.chips).map((button) => button.textContent);
    return how.options.filter((label) => !has.includes(label));
  }
  const known = how.shown.filter((column) => declared.curves.some((curve) => curve.column === column));
  if (known.length) chart.shown = new Set(known);
  if (how.log !== Boolean(chart.log)) chart.scaleBy(how.log);
  chart.smoothed = Math.min(how.smoothed, REACHES.length - 1);
  panel.chips.replaceChildren(...chipsFor(panel));
  return how.shown.filter((column) => !known.includes(column));
}

export class Address {
  constructor(view) {
    this.view = view;
    if (!view.data.address) return;
    this.button = el("button", { type: "button", class: "acs-button acs-small acs-copy", title: "Copy a link to exactly this: step, selection, panels, axes, smoothing, zoom, projector", onclick: () => this.copy() }, WORDS);
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
    return {
      schema: SCHEMA, step: view.viewing === null ? null : Math.round(view.viewing), arm, seed, layer, head,
      pinned: view.pinned || "", zoom: view.zoom ? [view.zoom[0], view.zoom[1]] : null,
      hidden: [...view.hidden].sort((a, b) => a - b), filled: view.filled?.declared.kind || "",
      open: view.sections.filter(({ open }) => open).map(({ name }) => name),
      ghost: view.ghost.on, projector: view.projector.on ? view.projector.kinds : [],
      panels: Object.fromEntries(view.panels.map((panel) => [panel.declared.kind, looks(panel)]).filter(([, how]) => how.shown.length || chosen(how))),
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
    const lost = Object.entries(said.panels).filter(([kind, how]) => chosen(how) && !view.panels.some(({ declared }) => declared.kind === kind)).map(([kind]) => kind);
    for (const panel of view.panels) if (said.panels[panel.declared.kind]) lost.push(...look(panel, said.panels[panel.declared.kind]));
    for (const section of view.sections) section.unfold(said.open.includes(section.name));
    view.hidden = new Set(said.hidden);
    Object.assign(view, { zoom: said.zoom, pinned: said.pinned || null, viewing: said.step ?? view.viewing });
    const batch = view.panels.some(({ chart }) => chart.shown?.has("loss"));
    const { arm, seed, layer, head } = said;
    view.select({ arm, seed, layer, head, batch });
    view.wish();
    if (view.ghost.on !== said.ghost) view.ghost.toggle();
    view.fill(view.panels.find(({ declared }) => declared.kind === said.filled) || null);
    if (said.projector.length) lost.push(...view.projector.show(said.projector));
    if (lost.length) view.complain(`The link shows what this run has not: ${[...new Set(lost)].join(", ")}.`);
    view.root.dataset.restored = "yes";
    view.schedule();
  }
}
