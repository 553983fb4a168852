// Entry of the Instant page: knobs on the left; what they train is drawn anew while they are turned.

import { Before } from "./before.js";
import { calm, el, number, onArrows, setText, setWhole } from "./dom.js";
import { Model } from "./model.js";
import { Panel } from "./panel.js";
import { Pictures } from "./pictures.js";
import { Reach } from "./reach.js";
import { Sliders } from "./sliders.js";
import { Success } from "./success.js";
import { readTheme } from "./theme.js";
import { Trainer } from "./trainer.js";

const SERIES = ["test_loss", "train_loss", "test_accuracy", "train_accuracy"], READING = "visual weights";
const GRACE = 250, ADDRESS_AFTER = 400, RATE_OVER = 2500, LOOKED_AT = 4;
const views = new WeakMap();

export function mount(parent, data, act = null) {
  const root = parent.querySelector(".acs-live"), kept = views.get(root);
  if (kept && !kept.gone) {
    // Streamlit runs us again when the theme or the token changes: knobs and pictures stay.
    clearTimeout(kept.leaving);
    kept.trainer.token = data.token;
  } else views.set(root, new Instant(root, data));
  const view = views.get(root);
  view.act = act;
  view.schedule();
  for (const name of ["live.css", "instant.css"]) style(name, () => view.schedule());
  return () => { view.leaving = setTimeout(() => view.leave(), root.isConnected ? GRACE : 0); };
}

function style(name, loaded) {
  const id = `acs-${name.split(".")[0]}-style`, href = new URL(name, import.meta.url).href, kept = document.getElementById(id);
  if (kept?.href === href) return loaded();
  kept?.remove();
  document.head.append(Object.assign(document.createElement("link"), { id, rel: "stylesheet", href, onload: loaded }));
}

// It has what the live view's panels ask of a view.
class Instant {
  constructor(root, data) {
    Object.assign(this, { root, data, replay: true, gone: false, zoom: null, hover: null, brush: null, viewing: null, hidden: new Set(), status: null, pointed: null, pinned: null, filled: null, panels: [], frame: 0 });
    Object.assign(this, { model: new Model(), pictures: new Pictures(this), ghost: new Before(this), reach: new Reach(), drawn: 0, chosen: 0, firsts: [], pace: 0, head: null, complaint: "", meta: null });
    this.projector = { on: false, scaleOf: () => 1, shows: () => true, node: el("span", { hidden: true }) };
    this.transport = { node: el("span", { hidden: true }) };
    this.state = el("span", { class: "acs-state", role: "status" }, "Waiting");
    this.rate = el("span", { class: "acs-clock acs-rate" });
    this.tally = el("span", { class: "acs-clock acs-tally" });
    this.said = el("p", { class: "acs-link acs-complaint", role: "alert" });
    this.success = new Success(this);
    this.sliders = new Sliders(data.knobs, data.values, () => this.turned(), () => this.rested());
    this.seeds = el("div", { class: "acs-segments", role: "radiogroup", "aria-label": "Seed in the pictures" });
    const again = el("button", { type: "button", class: "acs-button", title: "All knobs as at first", onclick: () => this.sliders.reset(Object.fromEntries(data.knobs.map((knob) => [knob.name, knob.default]))) }, "Reset");
    const train = el("button", { type: "button", class: "acs-button acs-primary", title: "Open the Sandbox with these settings: the same numbers, kept as a run", onclick: () => this.act?.("train", { ...this.sliders.values }) }, "Train this in the Sandbox");
    this.wait = el("p", { class: "acs-wait" }, "Waiting for the trainer…");
    this.grid = el("div", { class: "acs-grid" });
    root.replaceChildren(el("h2", { class: "acs-hidden" }, "Trained while you turn"),
      el("div", { class: "acs-rail" }, this.sliders.node, el("div", { class: "acs-choice" }, el("span", { title: "The pictures below the curves show this seed" }, "Picture"), this.seeds)),
      el("div", { class: "acs-stage" }, el("div", { class: "acs-head" }, this.state, this.rate, this.tally, el("div", { class: "acs-tools" }, this.success.start, train, again)), this.said, this.transport.node, this.projector.node, this.wait, this.grid, this.success.node));
    root.addEventListener("acs-resized", () => this.schedule());
    root.addEventListener("keydown", (event) => this.key(event));
    this.theme = readTheme(root, data.palette);
    this.trainer = new Trainer(data, this);
    this.turned();
  }

  // ---------------------------------------------------------------- what a person does
  turned() {
    this.complaint = "";
    this.asked = performance.now();
    if (this.head?.done || !this.head) this.moving = true;
    this.success.halt();
    this.wished ||= requestAnimationFrame(() => {
      this.wished = 0;
      this.trainer.ask("train", this.sliders.values, { seed: this.chosen });
      this.write();
    });
    clearTimeout(this.addressing);
    this.addressing = setTimeout(() => this.address(), ADDRESS_AFTER);
  }

  rested() { this.address(); }

  askMany() {
    this.complaint = "";
    this.success.begin();
    this.trainer.ask("histogram", this.sliders.values);
    this.success.node.scrollIntoView({ block: "nearest" });
  }

  // The address says where all knobs stand; what is at its default is left out of no link.
  address() {
    const url = new URL(location.href);
    if (this.gone || !this.root.isConnected) return;
    for (const { name } of this.data.knobs) url.searchParams.set(name, String(this.sliders.values[name]));
    history.replaceState(history.state, "", url);
  }

  select({ seed }) {
    if (seed === undefined || (seed === this.chosen && seed === this.model.selection.seed)) return;
    this.chosen = seed;
    this.trainer.choose(seed);
  }

  wish() {}  // every picture is open

  key(event) {
    if (event.key !== "Escape") return;
    if (this.filled) this.fill(null);
    else if (this.pinned) this.pinned = null;
    else if (this.zoom) this.zoom = null;
    else return;
    event.preventDefault();
    this.schedule();
  }

  // ---------------------------------------------------------------- what arrives
  onLink(state) {
    this.root.dataset.link = state;
    this.complaint = state === "lost" ? "Connection lost; trying again…" : "";
    this.write();
  }

  onRefused({ reason }) {
    this.complaint = reason;
    this.success.halt();
    this.write();
  }

  onSuccess(found) { this.success.take(found); }

  onCurves(head) {
    if (head.id < this.drawn) return;
    const began = performance.now();
    if (head.meta) this.meta = head.meta;
    // What is marked is what the pictures are of, also where fewer seeds are trained than the chosen one's.
    this.model.selection = { ...this.model.selection, seed: head.seed };
    if (head.from === 0 && head.epochs.length) this.begin(head);
    const fresh = this.head?.id !== head.id || !this.head.first_seconds;
    this.head = { ...head, series: null, pictures: null };
    if (fresh && head.first_seconds) this.firsts.push(performance.now());
    this.add(head);
    this.spent = performance.now() - began;
    // Where motion is unwelcome, curves do not grow: they come whole.
    if (!calm() || head.first_seconds) this.schedule();
  }

  // The first points of a computation: what stood there becomes the pale line, once for each rest.
  begin(head) {
    if (this.moving) {
      this.ghost.keep(this.model.series);
      for (const { chart } of this.panels) chart.held?.reset();
    }
    this.moving = false;
    this.drawn = head.id;
    this.model.forget();
    this.pictures.forget();
    this.model.greet({
      panels: this.data.panels, arms: ["these settings"], seeds: head.seeds, layers: 1, heads: 1, kinds: [READING],
      columns: SERIES.map((name) => ({ name, per: "seed" })), readings: { [READING]: { 0: this.meta } }, lines: this.meta.lines,
      palette: this.data.palette, steps: this.data.epochs[1] * head.per_epoch, waiting: [], parent: null, status: {},
    });
    if (!this.panels.length) this.build();
    if (this.seeds.childElementCount !== head.seeds.length) this.seedButtons(head.seeds);
  }

  add(head) {
    const steps = head.epochs.map((epoch) => epoch * head.per_epoch);
    if (steps.length) this.model.addRows({ fresh: head.from === 0, thinnedFrom: steps.length, steps, series: head.series.map((values, column) => ({ column, arm: 0, values })) });
    if (head.frames_from === 0 && head.from > 0) {
      this.model.forgetFrames();
      this.pictures.forget();
    }
    head.pictures.forEach((values, i) => this.model.addFrame("numbers", 0, { type: "numbers", kind: 0, step: head.frames[i] * head.per_epoch, values }));
    this.model.step = head.epoch * head.per_epoch;
    this.measure();
  }

  // How far the planes reach: over some of the pictures and the last one.
  measure() {
    const frames = this.model.framesOf("numbers", READING), some = frames.filter((_, i) => i % LOOKED_AT === 0 || i === frames.length - 1), { meta } = this;
    for (const name of new Set(this.panels.flatMap(({ declared }) => declared.layers))) {
      this.reach.take(name, some.flatMap((frame) => this.pictures.placed(name, frame, meta, frames[0]).placed));
    }
    this.model.scales[READING] = this.reach.squares;
  }

  // ---------------------------------------------------------------- drawing
  build() {
    this.panels = this.data.panels.map((panel) => new Panel(panel, this));
    this.grid.replaceChildren(...this.panels.map(({ node }) => node));
    this.wait.hidden = true;
  }

  seedButtons(seeds) {
    const buttons = seeds.map((seed, i) => el("button", { type: "button", role: "radio", onclick: () => this.select({ seed: i }) }, String(seed)));
    for (const button of buttons) onArrows(button, () => buttons);
    this.seeds.replaceChildren(...buttons);
  }

  until() { return Infinity; }

  hoverStep() {
    if (!this.hover?.chart.area) return null;
    const { x, left, right } = this.hover.chart.area;
    return this.hover.x < left || this.hover.x > right ? null : Math.round(Math.min(x.value(this.hover.x), this.model.step));
  }

  pinStep() {}  // the pictures stand at the end of training

  zoomTo(ends) { this.zoom = ends; this.schedule(); }

  fill(panel) {
    const before = this.filled;
    this.filled = panel || null;
    if (before && before !== panel) before.fill(false);
    if (panel) panel.fill(true);
    this.schedule();
  }

  schedule() {
    if (!this.gone) this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.paint(); });
  }

  paint() {
    const began = performance.now();
    this.theme = readTheme(this.root, this.data.palette);
    if (this.model.hello) for (const panel of this.panels) panel.paint();
    this.success.draw(this.theme);
    this.write();
    for (const panel of this.panels) {
      if (panel.asleep) { panel.rest(); continue; }
      panel.write();
      if (panel.declared.renderer === "curves") this.explain(panel);
    }
    const spent = performance.now() - began + (this.spent || 0);
    this.spent = 0;
    if (this.head) Object.assign(this.root.dataset, { drawn: String(this.drawn), epoch: String(this.head.epoch) });
    this.root.dispatchEvent(new CustomEvent("acs-drawn", { detail: { drawn: this.drawn, epoch: this.head?.epoch, spent } }));
  }

  // What the lines are, under each chart.
  explain({ declared, foot }) {
    const n = this.head?.seeds.length || 0;
    if (declared.lines === "accuracy") setWhole(foot, "held-out rows are drawn as training rows are: some stand in both");
    else setWhole(foot, [n > 1 ? `thick: mean of ${n} seeds · thin: each · band: least to greatest` : "one seed", this.ghost.series.size ? "pale dashes: before the knob moved" : ""].filter(Boolean).join(" · "));
  }

  // Pictures a second while a knob moves, at rest what one takes; and what one of them is.
  paceWords() {
    const { head } = this, now = performance.now();
    if (!head) return ["", ""];
    const what = `${head.seeds.length} seed${head.seeds.length === 1 ? "" : "s"} × ${this.data.epochs[0]} epochs`;
    this.firsts = this.firsts.filter((at) => now - at < RATE_OVER);
    const n = this.firsts.length, between = n > 2 ? (1000 * (n - 1)) / (this.firsts[n - 1] - this.firsts[0]) : 0;
    const pace = (this.pace = between || (head.first_seconds ? 1 / head.first_seconds : this.pace));
    return [pace ? `redrawn ${number(pace, 2)} times a second` : what, what];
  }

  write() {
    const { head } = this, working = !head || this.trainer.wish?.id > head.id || !head.done;
    setText(this.state, this.complaint ? "Not trained" : working && !this.success.running ? "Training" : this.success.running ? "Many seeds" : "At rest");
    this.state.dataset.state = this.complaint ? "failed" : working || this.success.running ? "running" : "done";
    const [pace, what] = this.paceWords();
    setText(this.rate, pace);
    this.rate.title = what && `A redraw begins with ${what}`;
    setWhole(this.tally, head ? `${head.computed} shown, ${head.given_up} overtaken by a newer value · ${head.epoch} epochs after ${number(head.seconds, 2)} s` : "");
    setText(this.said, this.complaint);
    this.said.hidden = !this.complaint;
    this.said.dataset.link = this.complaint ? "lost" : "";
    [...this.seeds.children].forEach((button, i) => {
      const chosen = i === this.model.selection.seed;
      button.setAttribute("aria-checked", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    });
  }

  leave() {
    this.gone = true;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.addressing);
    this.trainer.close();
  }
}
