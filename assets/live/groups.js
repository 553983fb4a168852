// Accuracy by group of rows: for each group and arm the seeds' mean at the shown step, seeds as small dots, the way it came.

import { counted, share, whole } from "./dom.js";
import { armStyle, marker, prepare } from "./theme.js";

const BEFORE = "test_accuracy/";
const GHOST = 0.55;

export class Groups {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, group: null, places: [], note: "", legend: null }); }

  // Groups and their labels, in the order they were recorded; numbers in their own order.
  groups(view) {
    const found = new Map();
    for (const { name } of view.model.hello?.columns || []) {
      if (!name.startsWith(BEFORE)) continue;
      const rest = name.slice(BEFORE.length), cut = rest.indexOf("/"), group = rest.slice(0, cut), label = rest.slice(cut + 1);
      if (!found.has(group)) found.set(group, []);
      found.get(group).push({ label, name });
    }
    for (const labels of found.values()) labels.sort((a, b) => parseFloat(a.label) - parseFloat(b.label) || a.label.localeCompare(b.label));
    return found;
  }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font);
    const groups = this.groups(view);
    if (!groups.has(this.group)) this.group = groups.keys().next().value;
    this.places = [];
    if (!this.group || width < 60) return;
    const { theme } = view, labels = groups.get(this.group), arms = view.model.hello.arms.map((_, a) => a).filter((a) => !view.hidden.has(a));
    const left = 40, right = width - 10, top = 8, bottom = height - 24, step = (right - left) / labels.length;
    const y = (value) => bottom - value * (bottom - top);
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const level of [0, 0.25, 0.5, 0.75, 1]) {
      context.strokeStyle = theme.grid;
      this.line(context, left, y(level), right, y(level));
      context.fillStyle = theme.faint;
      context.fillText(String(level), left - 6, y(level));
    }
    let at = -1, n = 0, past = false;
    labels.forEach(({ label, name }, k) => {
      const middle = left + (k + 0.5) * step;
      context.textAlign = "center";
      context.textBaseline = "top";
      context.fillStyle = theme.faint;
      const text = step < 34 && label.length > 4 ? `${label.slice(0, 3)}…` : label;
      if (step > 14 || k % 2 === 0) context.fillText(text, middle, bottom + 6);
      arms.forEach((arm, place) => {
        const style = armStyle(theme, arm), x = middle + (place - (arms.length - 1) / 2) * Math.min(14, (step - 8) / arms.length);
        context.fillStyle = context.strokeStyle = style.colour;
        past = this.ghost(context, view, { arm, style, x, y, name, label }) || past;
        const series = view.model.get(name, arm), i = series ? series.at(view.until()) : -1;
        if (i < 0) return;
        at = series.steps[i];
        n = Math.max(n, series.seeds.length);
        context.globalAlpha = 0.35;
        context.lineWidth = 1;
        this.line(context, x, y(series.low[i]), x, y(series.high[i]));
        for (const values of series.seeds) if (Number.isFinite(values[i])) { context.beginPath(); context.arc(x, y(values[i]), 1.7, 0, 2 * Math.PI); context.fill(); }
        context.globalAlpha = 1;
        if (!Number.isFinite(series.mean[i])) return;
        marker(context, style.marker, x, y(series.mean[i]), 4.2);
        context.fill();
        context.strokeStyle = theme.background;
        context.stroke();
        this.places.push({ x, y: y(series.mean[i]), key: name, label: `${view.model.hello.arms[arm]} · ${this.group} ${label}`, group: `${share(series.mean[i])}, ${share(series.low[i])} to ${share(series.high[i])}, ${counted(series.count[i], "seed")}` });
      });
    });
    this.legend = past ? [{ name: `hollow: ${view.ghost.who}`, colour: theme.faint, shape: "○" }] : null;
    this.note = at < 0 ? "No evaluation has been recorded yet." : `evaluation at step ${at} · by ${this.group}${n > 1 ? `, mean of ${n} seeds` : ""}`;
  }

  // The parent's mean at the shown step, hollow and larger than the mark that may lie on it.
  ghost(context, view, { arm, style, x, y, name, label }) {
    const series = view.ghost.beside(name, arm), i = series ? series.at(Math.min(view.until(), view.model.step)) : -1;
    if (i < 0 || !Number.isFinite(series.mean[i])) return false;
    context.globalAlpha = GHOST;
    context.lineWidth = 1.2;
    marker(context, style.marker, x, y(series.mean[i]), 5.8);
    context.stroke();
    context.globalAlpha = 1;
    this.places.push({ x, y: y(series.mean[i]), key: `parent/${name}`, label: `${view.model.hello.arms[arm]}, ${view.ghost.who} · ${this.group} ${label}`, group: `${share(series.mean[i])} at step ${whole(series.steps[i])}` });
    return true;
  }

  line(context, x1, y1, x2, y2) {
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
  }

  at(x, y) {
    let best = null, least = 200;
    for (const p of this.places) { const d = (p.x - x) ** 2 + (p.y - y) ** 2; if (d <= least) { least = d; best = p; } }  // of two at one place the later, which is the arm's own
    return best;
  }

  table() { return this.places.map((p) => [p.label, p.group, ""]); }
}
