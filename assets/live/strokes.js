// What a chart over steps is drawn with: lines, bands and crosses, and a survey of what is to be drawn.

import { lastAtOrBefore } from "./model.js";

export function line(context, x1, y1, x2, y2) {
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

export function cross(context, x, y, r) {
  line(context, x - r, y - r, x + r, y + r);
  line(context, x - r, y + r, x + r, y - r);
}

// First and one past the last row to draw, one row more on either side so that lines reach the edges; none beyond `until`.
export function window_(series, x0, x1, until = Infinity) {
  const stepOf = (i) => series.steps[i], end = lastAtOrBefore(series.n, stepOf, x1) + 2 - (series.last <= x1 ? 1 : 0);
  return [Math.max(0, lastAtOrBefore(series.n, stepOf, x0)), Math.min(series.n, end, lastAtOrBefore(series.n, stepOf, until) + 1)];
}

// A line through the rows that can be drawn; `kept` leaves rows out, each with the stretch that leads to it.
export function stroke(context, steps, values, from, end, x, y, drawn, kept = null) {
  context.beginPath();
  let pen = false;
  for (let i = from; i < end; i++) {
    const v = values[i];
    if (!drawn(v)) { pen = false; continue; }
    const px = x.place(steps[i]), py = y.place(v);
    if (kept && !kept(i)) context.moveTo(px, py);
    else if (pen) context.lineTo(px, py);
    else { context.moveTo(px, py); context.lineTo(px + 0.01, py); }
    pen = true;
  }
  context.stroke();
}

export function band(context, steps, low, high, from, end, x, y, drawn) {
  context.beginPath();
  let open = -1;
  for (let i = from; i <= end; i++) {
    const here = i < end && Number.isFinite(low[i]) && drawn(high[i]);
    if (here && open < 0) open = i;
    if (here || open < 0) continue;
    for (let k = open; k < i; k++) context[k === open ? "moveTo" : "lineTo"](x.place(steps[k]), y.place(high[k]));
    for (let k = i - 1; k >= open; k--) context.lineTo(x.place(steps[k]), drawn(low[k]) ? y.place(low[k]) : y.from);
    context.closePath();
    open = -1;
  }
  context.fill();
}

// What a value is that an axis cannot hold: "below" it, "above" it, or no number; "" where it can be drawn.
export function beyond(v, log) {
  if (Number.isNaN(v)) return "nan";
  if (v === Infinity) return "above";
  return v === -Infinity || (log && v <= 0) ? "below" : "";
}

// The ends of all that is known between two steps, so that looking back moves no axis, and a count of what is drawn
// but has no place on it. Rows that no seed had yet, before its first number, are not counted as NaN.
export function survey(lines, x0, x1, log, until) {
  const facts = { low: Infinity, high: -Infinity, below: 0, above: 0, nan: 0 };
  for (const { curve, series, to } of lines) {
    const [from, end] = window_(series, x0, x1), shown = window_(series, x0, x1, until)[1];
    const own = curve.seeds ? series.seeds : [series.mean], columns = curve.seeds && to && to.n === series.n ? [...own, ...to.seeds] : own;
    columns.forEach((values, place) => {
      for (let i = from; i < end; i++) {
        const v = values[i], where = beyond(v, log);
        if (!where) { if (v < facts.low) facts.low = v; if (v > facts.high) facts.high = v; }
        else if (i < shown && place < own.length && (where !== "nan" || (curve.seeds && i > 0))) facts[where]++;
      }
    });
  }
  return facts;
}
