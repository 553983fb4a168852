// A costly reading on demand: the button of a panel, how far the reading is, and giving it up.

import { el, number, setHidden, setText, whole } from "./dom.js";

const OPEN = ["waiting", "reading"];
const FORGET = 10000;  // ms after which an unanswered press is forgotten
const TICK = 500;
const AWAY = "The connection is away; ask again once it is back.";

// What the run can be asked and was asked, for all panels together.
export class Asking {
  constructor(view) { Object.assign(this, { view, steps: [], questions: [], sent: new Map(), said: new Map(), began: new Map(), spoken: new Set() }); }

  stored({ from, steps }) { this.steps = [...this.steps.slice(0, from), ...steps]; this.view.schedule(); }

  heard(questions) {
    this.questions = questions;
    for (const [kind, { id }] of this.sent) if (questions.some((question) => question.id === id)) this.sent.delete(kind);
    for (const { id, state } of questions) if (state === "reading" && !this.began.has(id)) this.began.set(id, performance.now());
    this.view.schedule();
  }

  // The stored step that is nearest; the earlier of two.
  nearest(step) {
    return this.steps.reduce((best, one) => (Math.abs(one - step) < Math.abs(best - step) ? one : best), this.steps[0]);
  }

  // The question about `kind` that is open, as the run tells of it or as it was sent; else the latest one.
  open(kind) {
    const sent = this.sent.get(kind);
    if (sent && performance.now() - sent.at > FORGET && !sent.id) this.sent.delete(kind);
    return this.questions.find((question) => question.kind === kind && OPEN.includes(question.state)) || this.sent.get(kind);
  }

  last(kind) { return this.questions.findLast((question) => question.kind === kind); }

  ask(kind, step) {
    const { view } = this, gone = this.view.connection.say({ command: "diagnose", kind, step });
    this.said.delete(kind);
    if (gone) this.sent.set(kind, { kind, step, state: "sent", at: performance.now() });
    else this.said.set(kind, AWAY);
    if (view.viewing !== null && step !== Math.round(view.viewing)) view.transport.go(step);
    view.schedule();
  }

  // What has no number yet is given up as soon as it has one.
  cancel(question) {
    const { id, kind } = question;
    if (!id) question.unwanted = true;
    else if (!this.view.connection.say({ command: "cancel", id })) this.said.set(kind, AWAY);
    this.view.schedule();
  }

  // Whether the answer to a command was meant for a question.
  answered(message) {
    const { command, kind, id, done, reason } = message;
    if (command !== "diagnose" && command !== "cancel") return false;
    const sent = this.sent.get(kind);
    if (command === "cancel" && !done) this.view.complain(reason);
    if (command === "diagnose" && !done) { this.sent.delete(kind); this.said.set(kind, reason); }
    if (command === "diagnose" && done && sent) {
      sent.id = id;
      if (sent.unwanted) this.cancel(sent);
      this.heard(this.questions);  // which may have told of it before
    }
    this.view.schedule();
    return true;
  }

  // What was asked is asked of a run, not of a connection: only the presses on their way are lost with it.
  lost() { for (const [kind, { id }] of this.sent) if (!id) this.sent.delete(kind); }
}

// The line below one panel's picture.
export class AskRow {
  constructor(panel) {
    const { title } = panel.declared;
    this.panel = panel;
    this.button = el("button", { type: "button", class: "acs-button acs-small", hidden: true, onclick: () => this.press() }, "Compute");
    this.bar = el("progress", { class: "acs-progress", max: 1, "aria-label": `Computing ${title}` });
    this.words = el("span", { class: "acs-said" });
    this.stop = el("button", { type: "button", class: "acs-button acs-small", "aria-label": `Cancel computing ${title}`, onclick: () => this.giveUp() }, "Cancel");
    this.aloud = el("span", { class: "acs-hidden", role: "status" });
    this.node = el("div", { class: "acs-ask" }, this.button, this.bar, this.words, this.stop, this.aloud);
  }

  press() {
    const { view, reading } = this.panel;
    this.draw();  // a panel out of sight is not drawn, and does not know its step
    if (this.button.hidden || this.button.getAttribute("aria-disabled") === "true") return;
    view.asking.ask(reading, this.step);
    this.draw();
    this.stop.focus({ preventScroll: true });
  }

  giveUp() {
    const { view, reading } = this.panel, open = view.asking.open(reading);
    if (!open) return;
    this.left = open.id;
    view.asking.cancel(open);
    this.draw();
  }

  // Why nothing can be asked here; empty where it can.
  refusal() {
    const { view, reading } = this.panel, { hello } = view.model;
    if (view.replay || hello.recorded) return "recorded";
    if (!hello.steer || !view.asking.steps.length) return "closed";
    return hello.arms.every((_, arm) => view.model.meta(reading, arm)?.not_applicable) ? "nothing to ask" : "";
  }

  draw() {
    const { view, reading } = this.panel, { asking, model } = view;
    clearTimeout(this.timer);
    if (view.gone) return undefined;
    const refused = Boolean(this.refusal()), open = refused ? null : asking.open(reading);
    for (const node of [this.bar, this.stop]) setHidden(node, !open);
    setHidden(this.button, refused || Boolean(open));
    if (refused) return setText(this.words, "");
    return open ? this.underWay(open) : this.atRest(asking, model, view.viewing === null ? model.step : Math.round(view.viewing));
  }

  underWay(open) {
    const { asking } = this.panel.view, { done = 0, of = 0, seconds = 0 } = open;
    const began = asking.began.get(open.id), passed = Math.max(seconds, began ? (performance.now() - began) / 1000 : 0);
    const left = done && of > done ? ` · about ${number(Math.max(0.1, (passed / done) * (of - done)), 2)} s left` : "";
    const words = open.state === "reading" ? `step ${whole(open.step)}: ${done} of ${of} · ${passed.toFixed(1)} s${left}` : open.state === "waiting" ? `step ${whole(open.step)}: waits for its turn` : `asked for step ${whole(open.step)}`;
    if (of) this.bar.value = done / of;
    else this.bar.removeAttribute("value");
    this.stop.setAttribute("aria-busy", String(Boolean(this.left) && this.left === open.id));
    setText(this.words, words);
    this.words.title = words;
    this.tell(`Computing at step ${open.step}`);
    this.timer = setTimeout(() => this.draw(), TICK);
  }

  atRest(asking, model, viewed) {
    const { reading } = this.panel, last = asking.last(reading), there = model.hasReading(reading, (this.step = asking.nearest(viewed)));
    const apart = this.step === viewed ? "" : `nearest stored step to ${whole(viewed)}`;
    const ended = last && { failed: `step ${whole(last.step)}: ${last.reason}`, cancelled: `step ${whole(last.step)}: cancelled`, done: `${last.step === this.step ? "" : `step ${whole(last.step)} computed `}in ${number(last.seconds, 2)} s of CPU` }[last.state];
    const cost = this.panel.due()?.cost, words = [asking.said.get(reading) || apart, ended].filter(Boolean).join(" · ");
    setText(this.button, there ? `Computed at step ${whole(this.step)}` : `Compute at step ${whole(this.step)}`);
    this.button.setAttribute("aria-disabled", String(there));
    this.button.title = there ? "It has been read at this step" : `Read it from the weights stored at step ${this.step}${cost ? `; one reading takes about ${number(cost, 2)} s of CPU` : ""}`;
    if (this.panel.view.root.contains(document.activeElement) && document.activeElement === this.stop) this.button.focus({ preventScroll: true });
    setText(this.words, words);
    this.words.title = words;
    if (asking.spoken.has(reading)) this.tell(asking.said.get(reading) || (last?.state === "done" ? `Computed at step ${last.step}` : ended) || "");
  }

  // Said to who listens, once for each change of state; figures that run are on the screen alone. The first
  // reading of its kind has this row built anew: that something was said is known for the kind.
  tell(words) { this.panel.view.asking.spoken.add(this.panel.reading); setText(this.aloud, words); }
}
