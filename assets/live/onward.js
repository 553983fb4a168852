// "Continue from here": asks the page for the form that goes on from the step that is looked at, or says why not.

import { el, setText, whole } from "./dom.js";

export class Onward {
  constructor(view) {
    this.view = view;
    this.button = el("button", { type: "button", class: "acs-button acs-small acs-onward", hidden: true, onclick: () => this.ask() }, "Continue from here");
  }

  // The step that is asked for: the one that the bar names, exactly, though the pictures may stand at one before it.
  get step() {
    const { viewing, model, transport } = this.view;
    return viewing === null ? model.step : Math.min(transport.told, model.step);
  }

  // Why the run cannot go on from the step; empty where it can.
  reason() {
    const { model, act } = this.view, { step } = this;
    if (!model.hello.steer || !act) return "You are watching this run; only its owner can continue it.";
    if (model.step < 1) return "There is no step yet to go on from.";
    if (model.hello.parent && step < model.hello.parent.step) return `This run begins at step ${whole(model.hello.parent.step)}; for step ${whole(step)} continue ${model.hello.parent.run}.`;
    return "";
  }

  ask() {
    const reason = this.reason();
    if (reason) this.view.complain(reason);
    else this.view.act("fork", this.step);
  }

  draw() {
    const { view, button } = this;
    button.hidden = view.replay;
    if (view.replay) return;
    const reason = this.reason();
    button.setAttribute("aria-disabled", String(Boolean(reason)));
    const title = reason || `Start a new run from step ${whole(this.step)}, with weights, optimizer moments and batch order as they were there; this run stays as it is`;
    if (button.title !== title) { button.title = title; button.setAttribute("aria-label", `Continue from here. ${title}`); }
    setText(button, view.viewing === null ? "Continue from here" : `Continue from step ${whole(this.step)}`);
  }
}
