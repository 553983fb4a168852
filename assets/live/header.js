// The head of the view: what the run is doing, its clocks, and the buttons that steer it.

import { counted, duration, el, setBoxed, setHidden, setText, whole } from "./dom.js";

const WORDS = { queued: "Queued", running: "Running", paused: "Paused", stalled: "Stalled", stopped: "Stopped", failed: "Failed", done: "Done", waiting: "Waiting" };
const ENDED = ["stopped", "failed", "done"];
const LONG = 52;  // letters of a reason that stay within two lines beside the buttons
const PATIENCE = 3000, LONGEST = 10000;  // ms that a wish is shown: unless its run is heard to know of it, and where it does

export class Header {
  constructor(view) {
    this.view = view;
    this.asked = null;
    this.state = el("span", { class: "acs-state", role: "status" });
    this.reason = el("span", { class: "acs-reason" });
    this.trained = el("b", { class: "acs-boxed" });
    this.clock = el("span", { class: "acs-clock" }, this.trained);
    this.pace = el("span", { class: "acs-boxed" });
    this.link = el("span", { class: "acs-link", role: "status" });
    const button = (label, what, title) => el("button", { type: "button", class: "acs-button", title, "aria-label": title, onclick: () => this.ask(what()) }, label);
    this.pause = button("Pause", () => (this.view.model.state === "paused" ? "resume" : "pause"), "Pause or resume training");
    this.step = button("Step", () => "step", "Train one single step, then pause");
    this.stop = button("Stop", () => "stop", "Stop training; the run keeps what it has");
    this.buttons = el("div", { class: "acs-buttons", role: "group", "aria-label": "Training" }, el("span", { class: "acs-caption", title: "These buttons steer the training itself" }, "Training"), this.pause, this.step, this.stop);
    this.tools = el("div", { class: "acs-tools" });
    this.node = el("div", { class: "acs-head" }, this.state, this.clock, el("span", { class: "acs-clock" }, this.pace), this.reason, this.link, this.buttons, this.tools);
  }

  ask(command) {
    this.asked = { command, at: performance.now(), step: this.view.model.step };
    this.view.connection.command(command);
    this.draw();
    for (const wait of [PATIENCE, LONGEST]) setTimeout(() => this.draw(), wait + 50);
  }

  answered(message) {
    if (this.asked?.command === message.command) this.asked.known = message.done;
    if (!message.done) { this.asked = null; this.view.complain(message.reason || "That did not work."); }
    this.draw();
  }

  // The wish is shown at once; it stands until the run has confirmed it.
  pending() {
    if (!this.asked) return "";
    const { command, at, step, known } = this.asked, { state } = this.view.model, shown = known || this.view.connection.presses.length ? LONGEST : PATIENCE;
    const met = { pause: state === "paused", resume: state === "running", stop: ENDED.includes(state), step: this.view.model.step > step && state === "paused" }[command];
    if (met || ENDED.includes(state) || state === "stalled" || performance.now() - at > shown) this.asked = null;
    return this.asked ? command : "";
  }

  draw() {
    const { view } = this, { model } = view;
    const pending = this.pending(), ended = ENDED.includes(model.state);
    const words = { pause: "Pausing…", resume: "Resuming…", stop: "Stopping…", step: "Stepping…" };
    setText(this.state, view.replay ? "Recorded run" : words[pending] || WORDS[model.state] || model.state);
    this.state.dataset.state = view.replay ? "recorded" : model.state;
    const total = model.hello?.steps || 0;
    setBoxed(this.trained, `trained to step ${whole(model.step)}${total ? ` of ${whole(total)}` : ""}`, `trained to step ${whole(total)} of ${whole(total)}`);
    const left = model.rate > 0 && total ? (total - model.step) / model.rate : NaN;
    const pace = model.state === "running" && model.rate > 0 ? `${counted(Math.round(model.rate) || Number(model.rate.toPrecision(1)), "step")}/s · ${duration(left)} left` : `${duration(model.seconds)} of training`;
    setBoxed(this.pace, view.replay ? "" : pace);
    const reason = view.complaint || (view.replay ? "" : view.status?.reason || "");
    setText(this.reason, reason);
    // What went wrong and what is long stand on a line of their own; what merely ended the run takes the room that is left.
    this.reason.classList.toggle("acs-long", Boolean(view.complaint) || model.state === "failed" || reason.length > LONG);
    setHidden(this.buttons, view.replay || !model.hello?.steer);
    setText(this.pause, words[pending === "pause" || pending === "resume" ? pending : ""] || (model.state === "paused" ? "Resume" : "Pause"));
    for (const button of [this.pause, this.step, this.stop]) button.disabled = ended || model.state === "waiting";
    this.pause.classList.toggle("acs-primary", true);
    for (const [button, names] of [[this.pause, ["pause", "resume"]], [this.step, ["step"]], [this.stop, ["stop"]]]) {
      button.setAttribute("aria-busy", String(names.includes(pending)));
    }
  }

  connection(state, reason) {
    this.link.dataset.link = state;
    const words = { connected: "", lost: "Connection lost; trying again…", refused: reason };
    setText(this.link, words[state] || "");
  }
}
