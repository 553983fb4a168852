// The small buttons of a panel: which curves, which scale, which embeddings, which groups of rows.

import { el } from "./dom.js";
import { prose } from "./formula.js";
import { REACHES } from "./smooth.js";

// A sign such as W_Q is shown with its index low, and is called as it is written.
const chip = (label, pressed, act, more = {}) => el("button", { type: "button", class: "acs-chip", "aria-pressed": String(pressed), "aria-label": label.includes("_") ? label : null, onclick: act, ...more }, ...prose(label));

// One of several: pressing one lets the others go.
function oneOf(labels, chosen, choose) {
  const buttons = labels.map((label, i) => chip(label, i === chosen, () => {
    choose(i);
    buttons.forEach((button, k) => button.setAttribute("aria-pressed", String(k === i)));
  }));
  return buttons;
}

export function chipsFor(panel) {
  const { declared, chart, view } = panel;
  if (declared.renderer === "curves") return curveChips(panel);
  if (declared.renderer === "map") {
    const toggle = (label, title, act) => {
      const button = chip(label, false, () => { button.setAttribute("aria-pressed", String(act())); view.schedule(); }, { title });
      return button;
    };
    chart.part = toggle("part", "A part of a long map, closely: this begins it, a drag over the map chooses another, Shift and arrows move it", () => { chart.look(view, !view.model.selection.region); return Boolean(view.model.selection.region); });
    chart.part.hidden = true;
    return [
      toggle("all heads", "Every head of every layer, small, with its entropy; a click chooses one", () => { chart.all = !chart.all; view.wish(); return chart.all; }),
      chart.part,
      toggle("0 to max", "Stretch the colours to this map's largest weight", () => { chart.stretched = !chart.stretched; return chart.stretched; }),
    ];
  }
  if (declared.renderer === "trajectories") {
    const known = declared.also.filter(([kind]) => view.model.hello.readings[kind]);
    return known.length < 2 ? [] : oneOf(known.map(([, label]) => label), 0, (i) => { chart.choose(known[i]); panel.say(known[i][2]); view.wish(); view.schedule(); });
  }
  if (declared.renderer === "spectra") {
    const names = chart.columns(view);
    return names.length < 2 ? [] : oneOf(names, chart.column, (i) => { chart.column = i; view.schedule(); });
  }
  if (declared.renderer === "groups") {
    const names = [...chart.groups(view).keys()];
    return names.length < 2 ? [] : oneOf(names, Math.max(0, names.indexOf(chart.group)), (i) => { chart.group = names[i]; view.schedule(); });
  }
  return [];
}

// How the axis counts and whether curves are smoothed: off at first, both said under the picture.
function manners({ declared, chart, view }) {
  const log = chip("log", chart.log, () => { chart.scaleBy(!chart.log); log.setAttribute("aria-pressed", String(chart.log)); view.schedule(); }, { title: "A logarithmic axis; what is not above 0 stands on a rail of its own" });
  const words = () => (chart.smoothed ? `smooth ${2 * REACHES[chart.smoothed] + 1}` : "smooth");
  const smooth = chip(words(), chart.smoothed > 0, () => {
    chart.smoothed = (chart.smoothed + 1) % REACHES.length;
    smooth.setAttribute("aria-pressed", String(chart.smoothed > 0));
    smooth.textContent = words();
    view.schedule();
  }, { title: "The mean of each point and its neighbours; the raw line stays behind it. Again for more, once more for none" });
  return [declared.lines === "accuracy" ? null : log, chart.smoothable ? smooth : null].filter(Boolean);
}

function curveChips(panel) { return [...whichCurves(panel), ...manners(panel)]; }

function whichCurves({ declared, chart, view }) {
  if (declared.curves.length < 2) return [];
  const groups = [...new Set(declared.curves.map(({ group }) => group).filter(Boolean))];
  if (groups.length > 1) {
    const of = (group) => declared.curves.filter((curve) => curve.group === group).map(({ column }) => column);
    return oneOf(groups, Math.max(0, groups.findIndex((group) => chart.shown.has(of(group)[0]))), (i) => { chart.shown = new Set(of(groups[i])); view.wish(); view.schedule(); });
  }
  const buttons = declared.curves.map((curve) => chip(curve.label, chart.shown.has(curve.column), () => {
    if (declared.one_at_a_time) { chart.shown.clear(); chart.shown.add(curve.column); }
    else if (!chart.shown.delete(curve.column)) chart.shown.add(curve.column);
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(chart.shown.has(declared.curves[i].column))));
    if (curve.column === "loss") view.select({ batch: chart.shown.has("loss") });
    view.wish();
    view.schedule();
  }, { class: `acs-chip acs-${curve.style}` }));
  return buttons;
}
