// The transport bar: one step for every panel; plays a recorded run, or looks back in one that still trains.

import { calm, el, setText, whole } from "./dom.js";

const PLAYTIME = 12000;

export class Timeline {
  constructor(view) {
    this.view = view;
    this.playing = false;
    this.slider = el("input", { type: "range", min: 0, max: 1, step: 1, value: 0, "aria-label": "Step that is shown", oninput: () => this.scrub() });
    this.play = el("button", { type: "button", class: "acs-button acs-primary", onclick: () => (this.playing ? this.halt() : this.start()) }, "Play");
    this.live = el("button", { type: "button", class: "acs-chip acs-live-chip", "aria-pressed": "true", title: "Show the latest step and follow it", onclick: () => this.follow() }, "Live");
    this.said = el("span", { class: "acs-clock" });
    this.back = el("button", { type: "button", class: "acs-chip", hidden: true, title: "Show all steps again (double click or Esc)", onclick: () => view.zoomTo(null) }, "Reset zoom");
    this.node = el("div", { class: "acs-time" }, view.replay ? this.play : null, this.slider, this.said, this.back, view.replay ? null : this.live);
  }

  get last() { return this.view.replay ? this.view.model.hello?.steps || this.view.model.step : this.view.model.step; }

  // A recorded run begins to play as soon as it is there, unless motion is unwelcome.
  begin() {
    if (calm()) { this.view.viewing = this.last; this.view.schedule(); }
    else this.start();
  }

  start() {
    const { view } = this;
    if (view.viewing === null || view.viewing >= view.model.step) view.viewing = 0;
    this.playing = true;
    let then = null;
    const advance = (now) => {
      if (!this.playing || view.gone) return;
      if (then !== null) view.viewing = Math.min(view.model.step, view.viewing + ((now - then) / PLAYTIME) * view.model.step);
      then = now;
      if (view.viewing >= view.model.step) this.playing = false;
      view.draw();
      if (this.playing) requestAnimationFrame(advance);
    };
    requestAnimationFrame(advance);
  }

  halt() { this.playing = false; this.view.schedule(); }

  follow() { this.view.viewing = null; this.view.schedule(); }

  scrub() {
    this.playing = false;
    const step = Number(this.slider.value);
    this.view.viewing = !this.view.replay && step >= this.view.model.step ? null : step;
    this.view.schedule();
  }

  draw() {
    const { view } = this;
    const until = Math.round(Math.min(view.until(), this.last));
    this.slider.max = String(Math.max(1, this.last));
    if (document.activeElement !== this.slider || view.viewing === null || this.playing) this.slider.value = String(until);
    this.slider.setAttribute("aria-valuetext", `step ${until} of ${this.last}`);
    this.slider.style.setProperty("--part", `${(100 * until) / Math.max(1, this.last)}%`);
    setText(this.play, this.playing ? "Pause" : view.viewing >= view.model.step ? "Replay" : "Play");
    setText(this.said, view.replay ? "" : view.viewing === null ? "viewing the latest step" : `viewing step ${whole(until)}`);
    this.live.setAttribute("aria-pressed", String(view.viewing === null));
    this.back.hidden = !view.zoom;
  }
}
