// The transport bar: one step for every panel; plays a recorded run, or looks back in one that goes on training.

import { calm, el, setBoxed, setHidden, setText, whole } from "./dom.js";
import { icon } from "./icons.js";
import { Onward } from "./onward.js";
import { prepare, sizeOf } from "./theme.js";

const PLAYTIME = 12;
const THUMB = 7;  // half the slider's thumb, which the first and the last tick stand under
const SPEEDS = [["1 step/s", 1], ["10 steps/s", 10], ["100 steps/s", 100], [`run in ${PLAYTIME} s`, "whole"], ["as fast as possible", "frames"]];
const ENDED = ["stopped", "failed", "done"];
const MARKS = { nan: "cross", threshold: "triangle" };

export class Transport {
  constructor(view) {
    this.view = view;
    this.playing = false;
    this.speed = 3;
    const button = (label, words, act, more = "") => el("button", { type: "button", class: `acs-button acs-small ${more}`, title: words, "aria-label": words, onclick: act }, label);
    this.slider = el("input", { type: "range", min: 0, max: 1, step: 1, value: 0, "aria-label": "Step that is shown", oninput: () => this.scrub() });
    this.ticks = el("canvas", { class: "acs-ticks", "aria-hidden": "true" });
    this.track = el("div", { class: "acs-track" }, this.ticks, this.slider);
    this.track.addEventListener("pointermove", (event) => this.hover(event));
    this.track.addEventListener("pointerleave", () => { this.hovered = null; view.schedule(); });
    this.first = button(icon("first"), "Previous event (Shift+E)", () => this.event(-1));
    this.back = button(icon("back"), "One recorded step back (←)", () => this.move(-1));
    this.play = button("Play", view.replay ? "Play from the shown step (Space)" : "Replay what was recorded so far; training goes its own way", () => (this.playing ? this.halt() : this.start()), "acs-primary acs-play");
    this.next = button(icon("next"), "One recorded step forward (→)", () => this.move(1));
    this.last_ = button(icon("last"), "Next event (E)", () => this.event(1));
    this.rate = el("select", { class: "acs-speed", "aria-label": "Speed of playing", title: "Speed of playing ( , and . )", onchange: () => { this.speed = this.rate.selectedIndex; } }, ...SPEEDS.map(([label]) => el("option", {}, label)));
    this.rate.selectedIndex = this.speed;
    this.field = el("input", { type: "number", class: "acs-step", min: 0, step: 1, "aria-label": "Go to step", title: "Go to step (G)", onfocus: () => { this.field.max = String(this.last); }, onchange: () => this.go(Number(this.field.value)) });
    this.live = el("button", { type: "button", class: "acs-chip acs-live-chip", "aria-pressed": "true", title: "Show the latest step and follow it (L)", onclick: () => this.follow() }, "LIVE");
    this.reset = el("button", { type: "button", class: "acs-chip", hidden: true, title: "Show all steps again (Z, double click or Esc)", onclick: () => view.zoomTo(null) }, "Reset zoom");
    this.onward = new Onward(view);
    this.viewing = el("b", { class: "acs-viewing acs-boxed" });
    this.trained = el("span", { class: "acs-clock", hidden: true });  // where the header is covered
    this.said = el("span", { class: "acs-said", role: "status" });
    this.node = el("div", { class: "acs-time", role: "group", "aria-label": "Viewing: the step that is shown" },
      el("div", { class: "acs-bar" }, el("span", { class: "acs-caption", title: "These buttons choose the step that is shown; they never train" }, "Viewing"), this.first, this.back, this.play, this.next, this.last_, this.rate, this.track, this.field, view.replay ? null : this.live),
      el("div", { class: "acs-words" }, el("span", { class: "acs-clock" }, this.viewing), this.trained, this.said, this.reset, this.onward.button));
  }

  get last() { return this.view.replay ? this.view.model.hello?.steps || this.view.model.step : this.view.model.step; }

  // The step that the bar names: the playhead's, or while it plays between recorded steps the one that the pictures show.
  get told() {
    const { view } = this, shown = this.playing ? view.model.shownAt(view.until()) : null;
    return shown ?? Math.round(Math.min(view.until(), this.last));
  }

  // A recorded run begins to play as soon as it is there, unless motion is unwelcome.
  begin() {
    if (calm()) this.go(this.last);
    else this.start();
  }

  start() {
    const { view } = this;
    if (view.viewing === null || view.viewing >= view.model.step) view.viewing = 0;
    this.playing = true;
    let then = null;
    const advance = (now) => {
      if (!this.playing || view.gone) return;
      if (then !== null) view.viewing = Math.min(view.model.step, this.ahead((now - then) / 1000));
      then = now;
      if (view.viewing >= view.model.step) { this.playing = false; if (!view.replay) view.viewing = null; }
      view.painter.play();
      if (this.playing) requestAnimationFrame(advance);
    };
    requestAnimationFrame(advance);
  }

  // Where the playhead stands after some seconds; as fast as possible is one picture per frame drawn.
  ahead(seconds) {
    const { viewing, model } = this.view, [, pace] = SPEEDS[this.speed];
    if (pace !== "frames") return viewing + seconds * (pace === "whole" ? model.step / PLAYTIME : pace);
    return model.steps().find((frame) => frame.step > viewing)?.step ?? model.step;
  }

  faster(by) {
    this.speed = Math.max(0, Math.min(SPEEDS.length - 1, this.speed + by));
    this.rate.selectedIndex = this.speed;
  }

  halt() {
    if (this.playing) this.view.viewing = this.told;
    this.playing = false;
    this.view.schedule();
  }

  follow() { this.playing = false; this.view.viewing = this.view.replay ? this.last : null; this.view.schedule(); }

  // LIVE again, or hold the shown step while training goes on.
  freeze() {
    const { view } = this;
    if (view.viewing === null) this.view.viewing = view.model.step;
    else return this.follow();
    view.schedule();
  }

  // Show a step; moving the playhead is a matter of this page alone and never touches the training.
  go(step) {
    const { view } = this;
    this.playing = false;
    if (!Number.isFinite(step)) return;
    // Before anything of the run is here, nothing says how far it goes; `arrived` looks at it again.
    const known = view.model.series.size > 0, to = Math.max(0, Math.min(Math.round(step), known ? this.last : Infinity));
    view.viewing = known && !view.replay && to >= view.model.step ? null : to;
    view.schedule();
  }

  // The first of a run is here.
  arrived() {
    if (this.view.replay) this.begin();
    else if (this.view.viewing !== null) this.go(this.view.viewing);
  }

  move(by) {
    const { view } = this, steps = view.model.steps(), now = view.viewing === null ? view.model.step : Math.round(view.viewing);
    const to = by < 0 ? steps.findLast((frame) => frame.step < now) : steps.find((frame) => frame.step > now);
    if (to) this.go(to.step);
    else if (by > 0) this.follow();
  }

  event(by) {
    const now = this.view.viewing === null ? this.view.model.step : Math.round(this.view.viewing), { events } = this.view.model;
    const to = by < 0 ? events.findLast((event) => event[0] < now) : events.find((event) => event[0] > now);
    if (to) this.go(to[0]);
    else this.view.complain(by < 0 ? "No event before this step." : "No event after this step.");
  }

  scrub() {
    const step = Number(this.slider.value), near = this.near(step);
    this.go(near ? near[0] : step);
  }

  // The event under the pointer: so near to a step that no one could hit it exactly.
  near(step) {
    const reach = (5 * this.last) / Math.max(60, sizeOf(this.track)[0]);
    let best = null;
    for (const event of this.view.model.events) if (Math.abs(event[0] - step) <= (best ? Math.abs(best[0] - step) : reach)) best = event;
    return best;
  }

  hover(event) {
    const box = this.track.getBoundingClientRect();
    const found = this.near(((event.clientX - box.left - THUMB) / Math.max(1, box.width - 2 * THUMB)) * this.last);
    if (found !== this.hovered) { this.hovered = found; this.view.schedule(); }
  }

  words([step, arm, seed, kind, detail]) {
    const name = this.view.model.hello.arms[arm];
    const who = [name, seed !== null && seed >= 0 ? `seed ${seed}` : ""].filter(Boolean).join(", ");
    return `${kind === "nan" ? "NaN" : kind} at step ${whole(step)}${who ? ` (${who})` : ""}: ${detail}`;
  }

  draw() {
    const { view } = this, { model } = view;
    const until = Math.round(Math.min(view.until(), this.last)), told = this.told, following = view.viewing === null;
    this.slider.max = String(Math.max(1, this.last));
    if (document.activeElement !== this.slider || following || this.playing) this.slider.value = String(until);
    this.slider.setAttribute("aria-valuetext", `step ${told} of ${this.last}`);
    this.slider.style.setProperty("--part", `${(100 * until) / Math.max(1, this.last)}%`);
    if (document.activeElement !== this.field && model.series.size) this.field.value = String(told);
    setText(this.play, this.playing ? "Hold" : following || view.viewing >= model.step ? "Replay" : "Play");
    const shown = model.shownAt(view.until());
    setBoxed(this.viewing, `viewing step ${whole(following ? model.step : shown ?? until)}`, `viewing step ${whole(model.hello?.steps || this.last)}`);
    setHidden(this.trained, !view.filled);
    setText(this.trained, `trained to step ${whole(model.step)}`);
    const here = model.events.filter((event) => !following && event[0] === until)[0];
    const apart = !following && !this.playing && shown !== null && shown !== until ? `Asked ${whole(until)}, shown ${whole(shown)}: the pictures stand at recorded steps.` : "";
    const event = this.hovered || here;
    const words = [apart, event ? this.words(event) : "", following && !view.replay && !ENDED.includes(model.state) ? "following the latest step" : ""].filter(Boolean).join(" · ");
    if (!this.playing || this.hovered) setText(this.said, words);
    else setText(this.said, "");
    this.live.setAttribute("aria-pressed", String(following));
    const over = ENDED.includes(model.state);  // nothing is live any more, but there is a last step
    setText(this.live, over ? "LAST" : "LIVE");
    this.live.title = over ? "Show the last step (L)" : "Show the latest step and follow it (L)";
    this.live.classList.toggle("acs-over", over);
    setHidden(this.reset, !view.zoom);
    this.onward.draw();
    view.ghost.write();
    this.mark();
  }

  // Ticks: recorded steps below the line, events above it.
  mark() {
    const { view } = this, { model, theme } = view, steps = model.steps(), [width, height] = sizeOf(this.ticks);
    const key = [steps.length, steps[steps.length - 1]?.step, steps[0]?.step, model.events.length, this.last, width, height, theme.dark].join();
    if (key === this.marked || !width) return;
    this.marked = key;
    const { context } = prepare(this.ticks, theme.font), x = (step) => THUMB + (step / Math.max(1, this.last)) * (width - 2 * THUMB);
    context.strokeStyle = theme.reference;
    context.lineWidth = 1;
    context.beginPath();
    let before = -9;
    for (const { step } of steps) {
      const at = Math.round(x(step)) + 0.5;
      if (at - before < 2) continue;
      before = at;
      context.moveTo(at, height - 5);
      context.lineTo(at, height - 1);
    }
    context.stroke();
    for (const [step, , , kind] of model.events) {
      const at = x(step), shape = MARKS[kind] || "diamond";
      context.fillStyle = context.strokeStyle = kind === "nan" ? theme.alarm : kind === "threshold" ? theme.good : theme.accent;
      context.lineWidth = 1.6;
      context.beginPath();
      if (shape === "cross") { context.moveTo(at - 3, 1); context.lineTo(at + 3, 7); context.moveTo(at - 3, 7); context.lineTo(at + 3, 1); context.stroke(); continue; }
      if (shape === "triangle") { context.moveTo(at, 8); context.lineTo(at - 3.5, 1); context.lineTo(at + 3.5, 1); }
      else { context.moveTo(at, 0); context.lineTo(at + 3.5, 4); context.lineTo(at, 8); context.lineTo(at - 3.5, 4); }
      context.fill();
    }
  }
}
