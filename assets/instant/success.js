// The histogram of success: how far each of many seeds came, how many solved the task, and how sure that is.

import { duration, el, setText, share } from "./dom.js";
import { line } from "./strokes.js";
import { armStyle, prepare } from "./theme.js";

const BINS = 50, LEFT = 34, RIGHT = 12, TOP = 16, BOTTOM = 24;

export class Success {
  constructor(view) {
    const [seeds, epochs] = view.data.many;
    Object.assign(this, { view, found: null, running: false, told: "" });
    this.start = el("button", { type: "button", class: "acs-button", title: "How many seeds solve the task with these knobs; turning a knob ends it", onclick: () => view.askMany() }, `${seeds} seeds × ${epochs} epochs`);
    this.stop = el("button", { type: "button", class: "acs-button", hidden: true, onclick: () => view.trainer.say({ do: "cancel" }) }, "Cancel");
    this.bar = el("progress", { max: 1, value: 0, "aria-label": "Seeds trained" });
    this.words = el("p", { class: "acs-told" });
    this.end = el("p", { class: "acs-hidden", role: "status" });
    this.canvas = el("canvas", { role: "img", tabIndex: 0, "aria-label": "Histogram of held-out accuracy", "aria-describedby": "acs-success-table" });
    this.table = el("table", { id: "acs-success-table" });
    this.node = el("section", { class: "acs-panel acs-success", hidden: true }, el("header", {}, el("h3", {}, `Success of ${seeds} seeds after ${epochs} epochs`), this.bar, this.stop), this.words, el("div", { class: "acs-canvas" }, this.canvas), el("div", { class: "acs-hidden" }, this.table), this.end);
  }

  begin() {
    Object.assign(this, { found: null, running: true });
    this.node.hidden = false;
    this.stop.hidden = false;
    this.bar.value = 0;
    setText(this.words, "The first seeds are in training…");
    setText(this.end, "");
    this.view.schedule();
  }

  take(found) {
    this.found = found;
    this.running = !found.done && !found.cancelled;
    this.stop.hidden = !this.running;
    this.bar.value = found.share;
    setText(this.words, this.sentence());
    if (!this.running) setText(this.end, this.sentence());
    this.tabulate();
    this.view.schedule();
  }

  // Nothing more comes of it, for a reason that stands elsewhere.
  halt() {
    this.running = false;
    this.stop.hidden = true;
  }

  sentence() {
    const { n, of, solved, low, high, threshold, left, seconds, done, cancelled, solved_at: at } = this.found;
    // At first: a seed may have lost the task again for a while.
    const times = at.filter((epoch) => epoch !== null).sort((a, b) => a - b), by = times[(times.length - 1) >> 1], middle = times.length > 1 ? `, half of them first by epoch ${by}` : times.length ? `, first by epoch ${by}` : "";
    const state = cancelled ? `ended after ${n} of ${of} seeds` : done ? `all ${of} seeds in ${duration(seconds)}` : `${n} of ${of} seeds · ${left === null ? "" : `${duration(left)} left`}`;
    return `${n ? `${solved} solved (held-out accuracy ≥ ${100 * threshold} %): ${share(solved / n)}, 95 % interval ${share(low)} to ${share(high)}${middle} · ` : ""}${state}`;
  }

  counts() {
    const counts = new Array(BINS).fill(0);
    for (const value of this.found?.accuracies || []) counts[Math.min(BINS - 1, Math.floor(value * BINS + 1e-9))]++;
    return counts;
  }

  draw(theme) {
    if (this.node.hidden) return;
    const { context, width, height } = prepare(this.canvas, theme.font);
    if (width < 60) return;
    const counts = this.counts(), most = 1.06 * Math.max(5, ...counts), bottom = height - BOTTOM, step = (width - LEFT - RIGHT) / BINS;
    const x = (value) => LEFT + value * BINS * step, y = (count) => bottom - (count / most) * (bottom - TOP);
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const every = [1, 2, 5, 10, 20, 50].find((size) => most / size <= 4) || 50;
    for (let count = 0; count <= most; count += every) {
      context.strokeStyle = count ? theme.grid : theme.axis;
      line(context, LEFT, Math.round(y(count)) + 0.5, width - RIGHT, Math.round(y(count)) + 0.5);
      context.fillStyle = theme.faint;
      context.fillText(String(count), LEFT - 6, y(count));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    for (const value of [0, 0.25, 0.5, 0.75, 1]) context.fillText(String(value), Math.min(x(value), width - RIGHT - 4), bottom + 6);
    context.textAlign = "left";
    context.fillText("seeds by held-out accuracy", LEFT, 1);
    const chance = this.view.model.hello?.lines.accuracy?.chance;
    if (chance) {
      context.setLineDash([3, 4]);
      context.strokeStyle = theme.reference;
      line(context, x(chance), TOP, x(chance), bottom);
      context.setLineDash([]);
      context.textAlign = "center";
      context.fillText("chance", x(chance), 1);
    }
    counts.forEach((count, i) => {
      if (!count) return;
      const solved = (i + 0.5) / BINS >= (this.found?.threshold ?? 1), top = y(count);
      context.fillStyle = solved ? theme.good : armStyle(theme, 0).colour;
      context.fillRect(LEFT + i * step + 0.5, top, Math.max(1, step - 1), bottom - top);
      if (!solved) return;
      context.textAlign = "right";
      context.fillStyle = theme.text;
      context.fillText(`solved: ${count}`, LEFT + i * step - 4, Math.min(top, bottom - 14));
    });
  }

  tabulate() {
    const rows = this.counts().map((count, i) => [`${((100 * i) / BINS).toFixed(0)} to ${((100 * (i + 1)) / BINS).toFixed(0)} %`, count]).filter(([, count]) => count);
    this.table.replaceChildren(el("caption", {}, "Seeds by held-out accuracy"), ...rows.map(([range, count]) => el("tr", {}, el("th", { scope: "row" }, range), el("td", {}, String(count)))));
  }
}
