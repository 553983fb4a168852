// Keys: one table says what each does, whose button does the same, and what the help shows.

import { el } from "./dom.js";

const TYPING = "input:not([type=range]), textarea, select";

export class Keys {
  constructor(view) {
    const { transport } = view;
    const next = (field, count, by) => view.select({ [field]: (view.model.selection[field] + by + count) % count });
    const hello = () => view.model.hello;
    this.view = view;
    this.table = [
      ["Step", [
        ["Space", "Play or hold a recorded run; in a live run, pause or resume training", () => (view.replay || !hello()?.steer ? (transport.playing ? transport.halt() : transport.start()) : view.header.pause.click()), " "],
        ["← →", "One recorded step back, one forward", () => transport.move(-1), "ArrowLeft"],
        [null, "", () => transport.move(1), "ArrowRight"],
        ["E, Shift+E", "Next event, previous event", () => transport.event(1), "e"],
        [null, "", () => transport.event(-1), "E"],
        ["Home, End", "First step, last step", () => transport.go(0), "Home"],
        [null, "", () => transport.follow(), "End"],
        ["G", "Go to a step: type it, then Enter", () => { transport.field.focus(); transport.field.select(); }, "g"],
        ["L", "LIVE: follow the latest step, or hold the shown one", () => transport.freeze(), "l"],
        [", .", "Play slower, faster", () => transport.faster(-1), ","],
        [null, "", () => transport.faster(1), "."],
        ["T", "Train one update (a run that you steer)", () => view.header.step.click(), "t"],
      ]],
      ["Selection", [
        ["A, Shift+A", "Next arm, previous arm", () => next("arm", hello().arms.length, 1), "a"],
        [null, "", () => next("arm", hello().arms.length, -1), "A"],
        ["S", "Next seed", () => next("seed", hello().seeds.length, 1), "s"],
        ["Y", "Next layer", () => next("layer", hello().layers, 1), "y"],
        ["H", "Next head", () => next("head", hello().heads, 1), "h"],
        ["Esc", "Let go of what is pinned, hovered or zoomed; leave the full screen", null],
      ]],
      ["Panels", [
        ["Tab", "From picture to picture", null],
        ["← → on a curve", "Move the hovered step; Enter or a click pins it in every picture, + zooms in, Esc lets go", null],
        ["Shift and arrows on a map", "Move the part of a long map that is shown closely", null],
        ["Enter on a picture", "Pin the next point or cell; again for the one after it", null],
        ["F", "Fill the screen with the focused or hovered panel", () => view.fill(view.filled ? null : view.panelInHand()), "f"],
        ["Z", "Show all steps again", () => view.zoomTo(null), "z"],
        ["P", "Projector: two panels in large type", () => view.projector.toggle(), "p"],
        ["?", "This list", () => this.help(), "?"],
      ]],
    ];
    this.acts = new Map(this.table.flatMap(([, rows]) => rows).filter(([, , act]) => act).map(([, , act, key]) => [key, act]));
    this.listen = (event) => this.press(event);
    document.addEventListener("keydown", this.listen);
    this.button = el("button", { type: "button", class: "acs-button acs-small", title: "Keys (?)", "aria-label": "List of keys", onclick: () => this.help() }, "?");
  }

  press(event) {
    const { view } = this, { target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || view.gone || !view.model.hello) return;
    if (!view.root.contains(target) && !target.contains(view.root)) return;
    if (this.dialog?.open) return;
    if (event.key === "Escape") return this.escape(event);
    if (target.matches(TYPING)) return;
    if (target.type === "range" && /^(Arrow|Home|End)/.test(event.key)) return;  // the slider moves by itself
    if ((event.key === " " || event.key === "Enter") && target.tagName === "BUTTON") return;
    const act = this.acts.get(event.key) || (event.shiftKey ? null : this.acts.get(event.key.toLowerCase()));
    if (!act) return;
    event.preventDefault();
    act();
  }

  escape(event) {
    const { view } = this;
    if (event.target.matches(TYPING)) event.target.blur();
    else if (view.pinned || view.pointed) { view.pinned = view.pointed = null; }
    else if (view.filled) view.fill(null);
    else if (view.projector.on) view.projector.toggle();
    else if (view.zoom) view.zoomTo(null);
    else if (view.held && !view.replay) { view.held = false; view.transport.follow(); }
    else return;
    event.preventDefault();
    view.schedule();
  }

  help() {
    if (!this.dialog) {
      const rows = (list) => list.filter(([keys]) => keys).flatMap(([keys, words]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, words)]);
      this.dialog = el("dialog", { class: "acs-help", "aria-label": "Keys" },
        el("header", {}, el("h3", {}, "Keys"), el("button", { type: "button", class: "acs-close", "aria-label": "Close", onclick: () => this.dialog.close() }, "×")),
        el("div", { class: "acs-help-columns" }, ...this.table.map(([name, list]) => el("section", {}, el("h4", {}, name), el("dl", {}, ...rows(list))))));
      this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.dialog.close(); });
      this.view.root.append(this.dialog);
    }
    this.dialog.showModal();
  }

  leave() { document.removeEventListener("keydown", this.listen); }
}
