// The whole live view: puts the parts together, keeps what is shared by all panels, draws once per frame.

import { Asking } from "./asking.js";
import { arrange, el } from "./dom.js";
import { Ghost } from "./ghost.js";
import { Header } from "./header.js";
import { Keys } from "./keys.js";
import { Model } from "./model.js";
import { Painter } from "./painter.js";
import { Panel } from "./panel.js";
import { Pictures } from "./pictures.js";
import { Projector } from "./projector.js";
import { OwnSequence, Section } from "./sections.js";
import { SelectionCard } from "./selection.js";
import { Connection } from "./socket.js";
import { readTheme } from "./theme.js";
import { Transport } from "./transport.js";

const OPEN_AT_FIRST = "Sequence embeddings";

export class View {
  constructor(root, data) {
    Object.assign(this, { root, data, replay: data.mode === "replay", gone: false });
    Object.assign(this, { zoom: null, hover: null, brush: null, viewing: data.mode === "replay" ? 0 : null });
    Object.assign(this, { hidden: new Set(), status: null, complaint: "", acks: [], panels: [], sections: [] });
    Object.assign(this, { pointed: null, pinned: null, filled: null, held: false });
    this.model = new Model();
    this.painter = new Painter(this);
    this.asking = new Asking(this);
    this.pictures = new Pictures(this);
    this.header = new Header(this);
    this.transport = new Transport(this);
    this.ghost = new Ghost(this);
    this.projector = new Projector(this);
    this.keys = new Keys(this);
    this.own = new OwnSequence(this);
    this.header.tools.append(this.projector.button, this.keys.button);
    this.card = new SelectionCard(this);
    this.grid = el("div", { class: "acs-grid" });
    this.wait = el("p", { class: "acs-wait" }, this.replay ? "Opening the recorded run…" : "Opening the run…");
    this.folds = el("div", { class: "acs-folds" });
    root.replaceChildren(el("h2", { class: "acs-hidden" }, "Pictures of the run"), this.header.node, this.transport.node, this.ghost.node, this.projector.node, this.wait, this.grid, this.folds);
    this.theme = readTheme(root, null);
    this.resizing = new ResizeObserver(() => this.schedule());
    root.addEventListener("acs-resized", () => this.schedule());
    this.header.draw();
    this.connection = new Connection(data, this);
  }

  // ---------------------------------------------------------------- what arrives
  onHello(hello) {
    // As it was said: panels add to their declarations what the run tells them later.
    const said = JSON.stringify([hello.panels, hello.arms]), fresh = said !== this.said;
    this.said = said;
    this.model.greet(hello);
    this.status = hello.status;
    this.model.state = hello.status.state;
    this.theme = readTheme(this.root, hello.palette);
    if (fresh) this.build(hello);
    else for (const panel of this.panels) panel.renew();
    this.wish();
    const card = JSON.stringify([hello.arms, hello.seeds, hello.layers, hello.heads]);
    if (card !== this.carded) { this.carded = card; this.card.build(); }
    this.schedule();
  }

  // Panels that stay as they were declared keep their nodes, and with them focus, chips and scales.
  build(hello) {
    const arms = JSON.stringify(hello.arms), known = new Map(arms === this.arms ? this.panels.map((panel) => [panel.origin, panel]) : []);
    this.arms = arms;
    const wanted = this.data.panels;
    const declared = hello.panels.filter((panel) => !wanted || wanted.includes(panel.kind));
    const unfolded = new Set(this.sections.filter((section) => section.open).map((section) => section.name));
    if (!this.sections.length) unfolded.add(OPEN_AT_FIRST);
    this.panels = declared.map((panel) => {
      const origin = JSON.stringify(panel), kept = known.get(origin);
      kept?.renew();
      return kept || Object.assign(new Panel(panel, this), { origin });
    });
    if (!this.panels.includes(this.filled)) this.fill(null);
    const standard = this.panels.filter((panel) => !panel.declared.section);
    const nodes = standard.map((panel) => panel.node);
    nodes.splice(standard.filter((panel) => panel.declared.renderer !== "curves").length, 0, this.card.node);
    arrange(this.grid, nodes);
    const names = [...new Set(this.panels.map((panel) => panel.declared.section).filter(Boolean))];
    this.sections = names.map((name) => {
      const panels = this.panels.filter((panel) => panel.declared.section === name), kept = this.sections.find((section) => section.name === name);
      return kept?.panels.length === panels.length && kept.panels.every((panel, i) => panel === panels[i]) ? kept : new Section(name, panels, this);
    });
    arrange(this.folds, [this.own.node, ...this.sections.map((section) => section.node)]);
    for (const section of this.sections) if (unfolded.has(section.name) && !section.open) section.unfold(true);
    this.projector.build();
    if (this.projector.on) this.projector.arrange();
    this.resizing.disconnect();
    this.resizing.observe(this.grid);
    this.watching?.disconnect();
    // A panel that is scrolled away is not drawn; it is when it comes back.
    this.watching = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) this.panels.find((panel) => panel.node === target).away = !isIntersecting;
      this.schedule();
    });
    for (const panel of this.panels) this.watching.observe(panel.node);
    this.wait.hidden = true;
  }

  onStatus(status) {
    this.status = status;
    this.model.state = status.state;
    if (!this.model.hello) this.wait.textContent = status.state === "queued" ? "This run waits in the queue; it begins by itself." : status.reason || "Waiting for the run's first step…";
    this.schedule();
  }

  onUpdate(update) {
    const began = performance.now();
    const first = this.model.series.size === 0;
    this.model.apply(update);
    this.acks = [update.sequence];
    this.spent = performance.now() - began;
    this.bytes = update.bytes;
    this.root.dataset.state = this.model.state;
    if (this.model.overfull()) this.connection.startOver();
    if (first) this.transport.arrived();
    this.schedule(first);
    // A hidden tab draws nothing, nor does a view that is being moved; both must still be told of the next steps.
    if (document.hidden || !this.root.isConnected) this.acknowledge();
  }

  onEvents(message) { this.model.happened(message); this.schedule(); }

  onScales(scales) { Object.assign(this.model.scales, scales); this.schedule(false); }

  onCommand(message) { if (!this.asking.answered(message)) this.header.answered(message); }

  onConnection(state, reason) {
    this.root.dataset.link = state;
    this.header.connection(state, reason);
    if (state === "lost") this.asking.lost();
  }

  complain(sentence) {
    this.complaint = sentence;
    setTimeout(() => { this.complaint = ""; this.schedule(); }, 8000);
  }

  // ---------------------------------------------------------------- what is shared
  until() { return this.viewing === null ? Infinity : this.viewing; }

  hoverStep() {
    if (!this.hover?.chart.area) return null;
    const { x, left, right } = this.hover.chart.area;
    if (this.hover.x < left || this.hover.x > right) return null;
    return Math.round(Math.min(x.value(this.hover.x), this.replay ? this.until() : this.model.step));
  }

  // A step that is clicked on a curve is shown in every picture, until Esc lets go of it.
  pinStep(step) {
    this.transport.go(step);
    this.held = this.viewing !== null;
  }

  zoomTo(ends) { this.zoom = ends; this.schedule(); }

  // Tells the server which pictures are open, so that it sends those alone.
  wish() {
    const open = new Set(), shown = this.panels.filter((panel) => !panel.folded), before = JSON.stringify(this.model.selection);
    const numbers = (names) => [...new Set([...names].map((name) => this.model.places.get(name)))].filter((n) => n !== undefined).sort((a, b) => a - b);
    for (const panel of shown) if (panel.declared.renderer !== "curves" && panel.reading) for (const kind of [panel.reading, ...(panel.chart.also || [])]) open.add(kind);
    Object.assign(this.model.selection, {
      curves: numbers(shown.flatMap((panel) => panel.curveColumns()).filter((name) => name.includes("/")).flatMap((name) => [name, ...this.ghost.named(name)]).concat(shown.flatMap(({ chart }) => chart.beside?.() || []).flatMap((name) => this.ghost.named(name)))),
      values: numbers(["attention entropy/entropy", ...shown.flatMap(({ declared }) => [...declared.facts, ...declared.table].map(([name]) => name))]),
      open: [...open].sort(),
      grid: shown.some((panel) => panel.declared.renderer === "map" && panel.chart.all),
      groups: shown.some((panel) => panel.declared.renderer === "groups"),
    });
    if (JSON.stringify(this.model.selection) !== before) this.connection?.select(this.model.selection);
  }

  // The panel that has the focus, else the one under the pointer.
  panelInHand() {
    return this.panels.find((panel) => panel.node.contains(document.activeElement)) || this.panels.find((panel) => panel.node.matches(":hover")) || this.panels.find((panel) => !panel.asleep);
  }

  fill(panel) {
    const before = this.filled;
    this.filled = panel || null;
    if (before && before !== panel) before.fill(false);
    if (panel) panel.fill(true);
    this.schedule();
  }

  select(part) {
    this.model.selection = { ...this.model.selection, ...part };
    this.connection.select(this.model.selection);
    this.schedule();
  }

  toggleArm(arm) {
    if (!this.hidden.delete(arm)) this.hidden.add(arm);
    this.schedule();
  }

  // ---------------------------------------------------------------- drawing
  schedule(hurried = true) { this.painter.schedule(hurried); }

  acknowledge() {
    for (const sequence of this.acks) this.connection.acknowledge(sequence);
    this.acks = [];
  }

  leave() {
    this.gone = true;
    this.transport.playing = false;
    this.keys.leave();
    this.painter.leave();
    this.resizing.disconnect();
    this.watching?.disconnect();
    this.connection.close();
  }
}
