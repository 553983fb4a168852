// The frame around one picture: title, sentence, chips, what is behind the "i", and a table for those who do not see it.

import { AskRow } from "./asking.js";
import { chipsFor } from "./chips.js";
import { Curves } from "./curves.js";
import { counted, el, number, setHidden, setText, setWhole, share, whole } from "./dom.js";
import { formula, prose } from "./formula.js";
import { Groups } from "./groups.js";
import { Happenings } from "./happenings.js";
import { icon } from "./icons.js";
import { Ladder } from "./ladder.js";
import { Layers } from "./layers.js";
import { AttentionMap } from "./map.js";
import { Plane } from "./plane.js";
import { listen, listenToPicture, point, tell } from "./pointer.js";
import { Rows } from "./rows.js";
import { Simplex } from "./simplex.js";
import { Spectra } from "./spectra.js";
import { States } from "./states.js";
import { Trajectories } from "./trajectories.js";
import { Tree } from "./tree.js";

const RENDERERS = { curves: Curves, trajectories: Trajectories, map: AttentionMap, plane: Plane, rows: Rows, simplex: Simplex, groups: Groups, spectra: Spectra, states: States, ladder: Ladder, layers: Layers, tree: Tree, happenings: Happenings };
const TABLE_EVERY = 2000, LATER = 600, FILLED_SCALE = 1.45;
const LETTERS = "A: stated by paper or code. B: two accounts agree. C: derived and checked here. D: unknown.";
const MANY_KEYS = 4;
const WIDE_CHIPS = 26;  // letters of chips that stand beside a title in a narrow panel
const ENDED = ["stopped", "failed", "done"];
let counter = 0;

export class Panel {
  constructor(declared, view) {
    this.declared = declared;
    this.view = view;
    const id = `acs-panel-${++counter}`;
    this.canvas = el("canvas", { tabIndex: 0, role: "img", "aria-label": `${declared.title}. ${declared.sentence}`, "aria-describedby": `${id}-table` });
    this.chart = new RENDERERS[declared.renderer](declared, this.canvas);
    this.tip = el("div", { class: "acs-tip", hidden: true });
    this.badge = el("span", { class: "acs-badge", hidden: true });
    this.chips = el("div", { class: "acs-chips" });
    this.foot = el("div", { class: "acs-foot" });
    this.silence = el("p", { class: "acs-silence", hidden: true });
    this.table = el("table", { id: `${id}-table` });
    this.more = el("div", { class: "acs-more", hidden: true, role: "note" });
    this.info = el("button", { class: "acs-info", type: "button", "aria-expanded": "false", "aria-label": `About ${declared.title}`, title: "What this is, its formula and source", onclick: () => this.explain(this.more.hidden) }, "i");
    this.filler = el("button", { class: "acs-info acs-fill", type: "button", "aria-pressed": "false", "aria-label": `Fill the screen with ${declared.title}`, title: "Fill the screen (F); Esc leaves", onclick: () => view.fill(view.filled === this ? null : this) }, icon("fill"));
    this.node = el("section", { class: `acs-panel acs-${declared.place}`, "data-kind": declared.kind, "data-renderer": declared.renderer },
      el("div", { class: "acs-top" }, el("header", {}, el("h3", {}, declared.title), this.badge, this.chips, this.filler, this.info),
        (this.sentence = el("p", { class: "acs-sentence" }, declared.sentence))),
      el("div", { class: "acs-canvas" }, this.canvas, this.tip, this.silence), el("div", {}, this.foot), (this.ask = declared.on_demand ? new AskRow(this) : null)?.node, el("div", { class: "acs-hidden" }, this.table), this.more);
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !this.more.hidden) { this.explain(false); this.info.focus(); event.preventDefault(); }
    });
    this.renew();
    if (declared.renderer === "curves") listen(this.chart, this.canvas, view);
    else listenToPicture(this.chart, this.canvas, view);
    Object.assign(this, { told: -TABLE_EVERY, stale: true });
  }

  // Where a panel draws every column of a reading, the run says which there are.
  renew() {
    const { declared, view } = this, { hello } = view.model;
    if (declared.every) {
      const before = `${declared.reading}/`, names = hello.columns.map(({ name }) => name).filter((name) => name.startsWith(before));
      if (names.length === declared.curves.length) return;
      // "gradient: all" and "update: all" are two curves of one part, which the first chip shows.
      const words = names.map((column) => column.slice(before.length).split(": ")), parts = [...new Set(words.map((word) => word[word.length - 1]))], firsts = [...new Set(words.map(([word]) => word))];
      declared.curves = names.map((column, i) => {
        const [label, group] = words[i].length > 1 ? words[i] : [words[i][0], ""], first = label === firsts[0];
        return { column, label, group, style: !group || first ? "solid" : "dotted", to: "", on: group ? group === parts[0] : i === 0, seeds: !group || first };
      });
      this.chart.shown = new Set(declared.curves.filter(({ on }) => on).map(({ column }) => column));
    }
    const chips = chipsFor(this);
    if (chips.length !== this.chips.childElementCount || declared.every) this.chips.replaceChildren(...chips);
    this.node.classList.toggle("acs-chipped", chips.filter((chip) => !chip.hidden).map((chip) => chip.textContent.length + 4).reduce((a, b) => a + b, 0) > WIDE_CHIPS);
  }

  // Names of the columns that are drawn as curves now.
  curveColumns() { return this.chart.shown ? this.declared.curves.filter((c) => this.chart.shown.has(c.column)).flatMap((c) => [c.column, c.to].filter(Boolean)) : []; }

  // Another sentence, where a chip shows something else.
  say(sentence) {
    setText(this.sentence, sentence);
    this.canvas.setAttribute("aria-label", `${this.declared.title}. ${sentence}`);
  }

  // Whether it is to be drawn at all: not folded away, not scrolled away, not covered.
  get asleep() {
    const { view } = this;
    return this.folded || (view.filled ? view.filled !== this : view.projector.on ? !view.projector.shows(this) : this.away);
  }

  explain(open) {
    this.more.hidden = !open;
    this.info.setAttribute("aria-expanded", String(open));
    if (!open) return;
    const { declared, view } = this;
    const provenance = view.model.meta(this.reading, view.model.selection.arm)?.provenance;
    const measured = provenance && [provenance.method, provenance.exactness, provenance.precision, provenance.tolerance ? `tolerance ${number(provenance.tolerance)}` : "", provenance.sample_size ? `sample size ${whole(provenance.sample_size)}` : "", provenance.note].filter(Boolean).join(" · ");
    const entries = [["How to read it", declared.how_to_read], ["Formula", declared.equation], ["Source", declared.source],
      ["Certainty", declared.certainty], ["The letters", LETTERS], ["Our reading", declared.our_reading], ["How this was measured", measured]];
    this.more.replaceChildren(
      el("button", { type: "button", class: "acs-close", "aria-label": "Close", onclick: () => { this.explain(false); this.info.focus(); } }, "×"),
      el("h3", {}, declared.title),
      ...entries.filter(([, text]) => text).flatMap(([name, text]) => [el("h4", {}, name), name === "Formula" ? el("p", { class: "acs-formula" }, ...formula(text)) : el("p", {}, ...prose(text))]));
    this.more.querySelector("button").focus();
  }

  // Kind of the reading that is drawn now; a chip may have chosen another than the declared one.
  get reading() { return this.chart.reading || this.declared.reading; }

  // In front of everything, as large as the window, with the transport bar; the node stays where it is in the document.
  fill(on) {
    if (on === this.node.hasAttribute("popover")) return;
    if (on) {
      this.place = el("div", { class: `acs-place acs-${this.declared.place}`, style: { height: `${this.node.offsetHeight}px` } });
      this.node.before(this.place);
      this.node.append(this.view.transport.node);
      this.node.popover = "manual";
      this.node.showPopover();
    } else {
      this.view.projector.node.before(this.view.transport.node);
      this.node.hidePopover();
      this.node.removeAttribute("popover");
      this.place.remove();
    }
    this.canvas.scale = on ? FILLED_SCALE : this.view.projector.scaleOf(this);
    this.filler.setAttribute("aria-pressed", String(on));
    this.filler.setAttribute("aria-label", on ? "Leave the full screen" : `Fill the screen with ${this.declared.title}`);
    this.filler.replaceChildren(icon(on ? "shrink" : "fill"));
    (on ? this.canvas : this.filler).focus({ preventScroll: true });
  }

  paint() { if (!this.asleep) this.chart.draw(this.view); }

  // Out of sight: nothing is drawn, and no tip stays behind.
  rest() { setHidden(this.tip, true); }

  write() {
    const { view, declared, chart } = this;
    const arm = view.model.selection.arm;
    const absent = this.reading && view.model.meta(this.reading, arm)?.not_applicable;
    const reason = absent || this.columnReason(arm) || this.notYet(arm);
    setHidden(this.silence, !reason);
    this.canvas.classList.toggle("acs-pale", Boolean(reason) && !(chart.lines && chart.lines(view).length));
    if (reason) setText(this.silence, reason);
    if (declared.renderer === "curves") { tell(this.tip, this.chart, view); this.curveFoot(); }
    else { point(this.tip, this.chart, view); this.pictureFoot(); }
    this.ask?.draw();
    // Not at every picture, but the last one's numbers are always told: in the frame of a later picture, where one comes.
    const wait = this.told + TABLE_EVERY - performance.now();
    clearTimeout(this.telling);
    if (wait <= 0) this.tabulate();
    else this.telling = setTimeout(() => this.tabulate(), wait + LATER);
  }

  // Why a chosen column means nothing in this model, where no arm has it.
  columnReason(arm) {
    const { declared, chart, view } = this;
    if (declared.renderer !== "curves" || !declared.reading) return "";
    const shown = declared.curves.filter((c) => chart.shown.has(c.column));
    if (shown.some((c) => view.model.hello.arms.some((_, a) => view.model.get(c.column, a)?.n))) return "";
    const without = view.model.meta(declared.reading, arm)?.without || {};
    // A reason may stand for all columns of a matrix: "query" for "query largest".
    const reasons = shown.map(({ column }) => Object.entries(without).find(([name]) => `${column.slice(column.indexOf("/") + 1)} `.startsWith(`${name} `))?.[1]);
    return reasons.find(Boolean) || "";
  }

  // What is to be said where nothing has been read so far.
  notYet(arm) {
    const { view } = this;
    if (!this.reading || view.model.meta(this.reading, arm)) return "";
    const due = this.due();
    if (this.ask?.refusal() === "recorded") return "Not computed in this run, and a recorded one cannot be asked.";
    if (view.replay || ENDED.includes(view.model.state)) return `Not computed in this run.${due?.cost ? ` One reading takes about ${number(due.cost, 2)} s of CPU, more than its share.` : ""}`;
    if (!due) return "Not computed yet.";
    return due.step === null ? "Too costly for the share of this run that diagnostics may take; read on demand alone." : `Not computed yet: waits until ${due.step > view.model.step ? `about step ${whole(due.step)}` : "there is room"}, so that diagnostics leave training its time.`;
  }

  // When the next reading is due, where the schedule says so.
  due() { return (this.view.status?.waiting || this.view.model.hello.waiting || []).find(({ kind }) => kind === this.reading); }

  // How sure the numbers are, in a few words: printed under the picture.
  honesty() {
    const { view } = this, found = view.model.meta(this.reading, view.model.selection.arm)?.provenance, due = this.due();
    if (!found) return [];
    const words = [`${found.exactness}${found.sample_size ? `, n = ${whole(found.sample_size)}` : ""}`, found.precision.split(",")[0], found.tolerance ? `tolerance ${number(found.tolerance, 2)}` : ""];
    return [...words.filter(Boolean), due && due.step !== null && !view.replay && !ENDED.includes(view.model.state) ? due.step > view.model.step ? `next about step ${whole(due.step)}` : "next as soon as there is room" : ""].filter(Boolean);
  }

  curveFoot() {
    const { declared, view, chart } = this;
    const parts = chart.unwritten.length ? [`dotted across: ${chart.unwritten.join(", ")}`] : [];
    const groups = new Set(declared.curves.filter((c) => c.group && chart.shown.has(c.column)).map((c) => c.group));
    for (const [column, label] of declared.facts) {
      if (groups.size && ![...groups].some((group) => label.includes(group))) continue;
      const value = view.model.value(column, view.until());
      if (value === undefined) continue;
      // "of" continues the fact before it: rank 12 of 14.
      if (label === "of" && parts.length) parts[parts.length - 1] += ` of ${number(value, 3)}`;
      else parts.push(label.startsWith("%") ? `${share(value).replace(" %", "")} ${label}` : `${label} ${number(value, 3)}`);
    }
    const silent = this.reading ? view.model.hello.arms.filter((_, arm) => view.model.meta(this.reading, arm)?.not_applicable) : [];
    if (silent.length && silent.length < view.model.hello.arms.length) parts.push(`no answer for ${silent.join(", ")}`);
    const lines = chart.lines(view);
    const thinned = lines.filter((l) => l.series.thinnedFrom > l.series.n).sort((a, b) => b.series.thinnedFrom - a.series.thinnedFrom)[0];
    if (thinned) parts.push(`${whole(thinned.series.thinnedFrom)} rows shown as ${whole(thinned.series.n)}, extremes kept`);
    if (chart.smoothing) parts.push(`smoothed: ${chart.smoothing}`);
    setWhole(this.foot, [...parts, ...this.honesty()].join(" · "));
    const lost = [...new Set(lines.map((l) => l.arm))].flatMap((a) => view.model.diverged(a).filter((d) => d.step <= view.until()).map((d) => ({ arm: a, ...d })));
    const mine = declared.lines === "loss" && lost.length > 0;
    setHidden(this.badge, !mine);
    if (mine) {
      const first = lost[0], hello = view.model.hello;
      setText(this.badge, `NaN at step ${whole(first.step)}: ${hello.arms[first.arm]}, seed ${hello.seeds[first.seed]}${lost.length > 1 ? `, and ${lost.length - 1} more` : ""}`);
    }
  }

  pictureFoot() {
    const { view, chart, declared } = this;
    if (declared.renderer === "map") {
      const { frame, part } = chart;
      setHidden(part, !(chart.whole?.average > 1));
      part.setAttribute("aria-pressed", String(Boolean(frame?.origin)));
      const text = chart.told(view) || (frame ? `step ${whole(frame.step)} · largest weight ${number(frame.maximum)}${frame.average > 1 ? ` · cells average ${frame.average} × ${frame.average} tokens` : ""}${frame.origin ? ` · queries ${frame.origin[0]} to ${frame.origin[0] + frame.queries * frame.average - 1}, keys ${frame.origin[1]} to ${frame.origin[1] + frame.keys * frame.average - 1}` : ""}${chart.gridNote || ""}${this.honesty().map((word) => ` · ${word}`).join("")}` : "");
      setWhole(this.foot, text);
      return;
    }
    if (declared.renderer === "groups" && !this.chips.childElementCount) this.renew();
    const words = [chart.note, ...this.honesty()].filter(Boolean).join(" · "), key = JSON.stringify([chart.legend, words]);
    if (key === this.legendKey || !(chart.legend || chart.note)) return;
    this.legendKey = key;
    this.foot.title = [...(chart.legend || []).map(({ name }) => name), words].filter(Boolean).join(" · ");
    this.foot.replaceChildren(
      ...this.keys(chart.legend || []).map(({ name, colour, shape }) => el("span", { class: "acs-key" }, shape ? el("i", { style: { color: colour } }, icon(shape)) : null, name)),
      el("span", {}, words));
  }

  // Where many keys begin with one word, it is said once: "class 0 1 2".
  keys(legend) {
    const first = legend[0]?.name.split(" ")[0], many = legend.length > MANY_KEYS && legend.every(({ name }) => name.startsWith(`${first} `));
    this.foot.classList.toggle("acs-dense", many);
    return many ? [{ name: first }, ...legend.map((entry) => ({ ...entry, name: entry.name.slice(first.length + 1) }))] : legend;
  }

  // The latest numbers as a table, for screen readers.
  tabulate() {
    const { declared, view, chart } = this;
    if (view.gone) return;
    this.told = performance.now();
    let rows = [];
    if (declared.renderer === "curves") {
      for (const [label, level] of chart.reference(view)) rows.push([label, number(level), "reference line"]);
      for (const { curve, name, series } of chart.lines(view)) {
        const i = series.at(view.until());
        if (i >= 0) rows.push([`${name}, ${curve.label}`, number(series.mean[i]), `step ${series.steps[i]}, ${series.count[i] === 1 ? "" : "mean of "}${counted(series.count[i], "seed")}, ${number(series.low[i])} to ${number(series.high[i])}`]);
      }
    } else if (declared.renderer === "map" && chart.frame) {
      rows.push(["largest weight", number(chart.frame.maximum), `step ${chart.frame.step}`]);
    } else if (chart.table) {
      rows = chart.table(view);
    } else if (chart.places?.length) {
      rows.push(["points", String(chart.places.length), chart.note || ""]);
    }
    // A table of the same form is written over: nothing is taken out of the page and put in again.
    const form = rows.map((cells) => cells.length).join();
    if (form !== this.form || !this.table.caption) {
      this.form = form;
      this.table.replaceChildren(el("caption", {}, `${declared.title}, latest values`),
        ...rows.map((cells) => el("tr", {}, ...cells.map((_, i) => el(i ? "td" : "th", i ? {} : { scope: "row" })))));
    }
    rows.forEach((cells, r) => cells.forEach((cell, i) => setText(this.table.rows[r].cells[i], String(cell ?? ""))));
  }
}
