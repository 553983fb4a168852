// Hovering, brushing and keys over the curve charts; the zoom and the hovered step belong to all of them.

import { el, number, setHidden, whole } from "./dom.js";
import { armStyle } from "./theme.js";

const DOUBLE = 250;  // milliseconds in which a second click makes it a double one
const NEAREST = 5, LONGEST_WORDS = 160;

// Where the pointer is on a canvas, in the units that it is drawn in.
function placeOn(canvas, event) {
  const box = canvas.getBoundingClientRect(), scale = canvas.scale || 1;
  return { x: (event.clientX - box.left) / scale, y: (event.clientY - box.top) / scale };
}

export function listen(chart, canvas, view) {
  const place = (event) => placeOn(canvas, event);
  const inside = (x) => Math.min(Math.max(x, chart.area.left), chart.area.right);
  canvas.addEventListener("pointerdown", (event) => {
    if (!chart.area || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const x = inside(place(event).x);
    view.brush = { chart, from: x, to: x };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!chart.area) return;
    const at = place(event);
    view.hover = { chart, x: at.x, y: at.y };
    if (view.brush?.chart === chart) view.brush.to = inside(at.x);
    view.schedule();
  });
  let clicked = 0, brushed = false;
  canvas.addEventListener("click", (event) => {
    clearTimeout(clicked);
    if (brushed || !chart.area || event.detail !== 1) return;
    const step = view.hoverStep();
    if (step !== null) clicked = setTimeout(() => view.pinStep(step), DOUBLE);
  });
  canvas.addEventListener("pointerup", () => {
    const brush = view.brush;
    brushed = Boolean(brush && Math.abs(brush.to - brush.from) > 6);
    view.brush = null;
    if (brushed) {
      const ends = [brush.from, brush.to].map((p) => chart.area.x.value(p)).sort((a, b) => a - b);
      if (ends[1] - ends[0] >= 2) view.zoomTo(ends);
    }
    view.schedule();
  });
  canvas.addEventListener("pointerleave", () => { view.hover = null; view.schedule(); });
  canvas.addEventListener("dblclick", () => view.zoomTo(null));
  canvas.addEventListener("blur", () => { view.hover = null; view.schedule(); });
  canvas.addEventListener("keydown", (event) => {
    if (!chart.area) return;
    const { x, left, right, top, bottom } = chart.area;
    const stride = (right - left) / 60;
    const at = view.hover?.chart === chart ? view.hover.x : right;
    const to = { ArrowLeft: at - stride, ArrowRight: at + stride, Home: left, End: right }[event.key];
    if (to !== undefined) view.hover = { chart, x: inside(to), y: (top + bottom) / 2 };
    else if (event.key === "Escape") { view.hover = null; view.schedule(); return; }  // keys.js lets go of the rest
    else if (event.key === "Enter" && view.hoverStep() !== null) view.pinStep(view.hoverStep());
    else if (event.key === "+" || event.key === "=") view.zoomTo([x.value(inside(at - (right - left) / 4)), x.value(inside(at + (right - left) / 4))]);
    else return;
    event.preventDefault();
    view.schedule();
  });
}

// Hovering highlights, a click or Enter pins, Esc lets go; what is pinned is marked in all pictures.
export function listenToPicture(chart, canvas, view) {
  const look = (event) => {
    const at = placeOn(canvas, event), found = chart.at?.(at.x, at.y) || null;
    if (chart.hoverAt) chart.hoverAt(at.x, at.y);
    chart.hit = found;
    view.pointed = found?.key || null;
    view.schedule();
  };
  let dragged = false;
  canvas.addEventListener("pointerdown", (event) => { if (event.button === 0 && chart.press?.(placeOn(canvas, event))) canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointerup", () => { dragged = Boolean(chart.release?.(view)); });
  canvas.addEventListener("pointermove", (event) => { look(event); chart.drag?.(); });
  canvas.addEventListener("pointerleave", () => look({ clientX: -9e3, clientY: -9e3 }));
  canvas.addEventListener("click", (event) => {
    if (dragged) { dragged = false; return; }
    look(event);
    if (chart.chooseHead?.(view, placeOn(canvas, event))) return;
    pin(chart, view, chart.hit);
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    if (by && event.shiftKey && chart.shift?.(view, ...by)) return event.preventDefault();
    if (event.key !== "Enter" || !chart.places?.length || !chart.places[0].key) return;
    const at = chart.places.findIndex((place) => place.key === view.pinned);
    pin(chart, view, chart.places[(at + 1) % chart.places.length], true);
    event.preventDefault();
  });
}

function pin(chart, view, found, keep) {
  if (!chart.at) return;
  view.pinned = found && (keep || view.pinned !== found.key) ? found.key : null;
  view.pointed = null;
  view.schedule();
}

// The tip of a picture: what is under the pointer, else what is pinned.
export function point(tip, chart, view) {
  const found = chart.at && ((chart.hit?.silent ? null : chart.hit) || (view.pinned && chart.places?.find((place) => place.key === view.pinned)));
  if (!found) { setHidden(tip, true); return; }
  const words = `${found.label}|${found.group}`;
  if (tip.dataset.words !== words) {
    tip.dataset.words = words;
    tip.replaceChildren(el("div", {}, found.label.length > LONGEST_WORDS ? `${found.label.slice(0, LONGEST_WORDS - 1)}…` : found.label), el("div", { class: "acs-tip-more" }, found.group));
  }
  setHidden(tip, false);
  const scale = chart.canvas.scale || 1, [wide, tall] = [chart.canvas.clientWidth, chart.canvas.clientHeight];
  const x = found.x * scale, right = x + 14 + tip.offsetWidth > wide;
  tip.style.left = `${Math.max(2, right ? x - tip.offsetWidth - 12 : x + 14)}px`;
  tip.style.top = `${Math.max(0, Math.min(found.y * scale - 20, tall - tip.offsetHeight))}px`;
}

// The tooltip of the hovered chart, filled again at every draw so that it stays true while training goes on.
export function tell(tip, chart, view) {
  if (view.hover?.chart !== chart || !chart.area || view.brush) { setHidden(tip, true); return; }
  const step = view.hoverStep();
  if (step === null) { setHidden(tip, true); return; }
  const rows = [];
  for (const { curve, arm, name, series, to } of chart.lines(view)) {
    const i = series.near(step, view.until());
    if (i < 0) continue;
    const mean = series.mean[i], top = to && to.n === series.n ? to.mean[i] : null;
    const place = Number.isFinite(mean) && (!chart.area.y.log || mean > 0) ? chart.area.y.place(mean) : chart.area.bottom;
    rows.push({ curve, arm, name, series, i, mean, top, distance: Math.abs(place - view.hover.y) });
  }
  rows.sort((a, b) => a.distance - b.distance);
  const more = rows.length - NEAREST;
  const shown = rows.slice(0, NEAREST).sort((a, b) => a.arm - b.arm || chart.panel.curves.indexOf(a.curve) - chart.panel.curves.indexOf(b.curve));
  tip.replaceChildren(
    el("div", { class: "acs-tip-step" }, `step ${whole(shown.length ? shown[0].series.steps[shown[0].i] : step)}`),
    ...shown.map((row) => {
      const n = row.series.count[row.i], all = row.series.seeds.length;
      const value = row.top === null ? number(row.mean) : `${number(row.mean)} to ${number(row.top)}`;
      return el("div", { class: "acs-tip-row" },
        el("i", { style: { background: armStyle(view.theme, row.arm).colour } }),
        el("span", {}, `${row.name} · ${row.curve.label}`),
        el("b", {}, value),
        el("small", {}, all > 1 ? `n ${n}${n < all ? ` of ${all}` : ""}` : ""));
    }),
    more > 0 ? el("div", { class: "acs-tip-more" }, `${more} more`) : null,
  );
  if (shown.length === 0) { setHidden(tip, true); return; }
  setHidden(tip, false);
  const scale = chart.canvas.scale || 1, x = view.hover.x * scale, right = x + 14 + tip.offsetWidth > chart.area.width * scale;
  tip.style.left = `${Math.max(2, right ? x - tip.offsetWidth - 12 : x + 14)}px`;
  tip.style.top = `${Math.max(0, Math.min(view.hover.y * scale - 20, chart.area.height * scale - tip.offsetHeight))}px`;
}
