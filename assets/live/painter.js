// Which pictures are painted in which frame: none takes long, whoever is looked at comes first, and nobody is forgotten.

import { readTheme } from "./theme.js";

const FRAME = 6;  // milliseconds of painting after which a frame leaves the rest to the next
const REST = 50;  // times as long as it painted, a frame that nobody waits for leaves the page alone

export class Painter {
  constructor(view) { Object.assign(this, { view, frame: 0, resting: 0, last: null, hurried: false }); }

  // Something has changed. Where a person did it the pictures follow at once; an update lets them take turns.
  schedule(hurried = true) {
    if (this.view.gone) return;
    for (const panel of this.view.panels) panel.stale = true;
    this.hurried ||= hurried;
    this.ask();
  }

  ask() {
    clearTimeout(this.resting);
    this.frame ||= requestAnimationFrame(() => { this.frame = 0; this.draw(); });
  }

  // Every picture that is seen, from where the last frame stopped; the one in hand first.
  waiting() {
    const { view } = this, seen = view.panels.filter((panel) => !panel.asleep), late = seen.filter((panel) => panel.stale), after = view.panels.indexOf(this.last) + 1;
    const turn = (panel) => (view.panels.indexOf(panel) - after + view.panels.length) % view.panels.length;
    const inHand = (panel) => view.hover?.chart === panel.chart || view.brush?.chart === panel.chart || Boolean(panel.chart.hit) || view.filled === panel;
    return { seen, late: late.sort((a, b) => inHand(b) - inHand(a) || turn(a) - turn(b)) };
  }

  draw() {
    const { view } = this, { model } = view;
    if (view.gone || !view.root.isConnected) return;  // on its way to another place it has neither size nor colours
    const began = performance.now();
    let seen = [], left = 0;
    if (model.hello) {
      view.theme = readTheme(view.root, model.hello.palette);
      const found = this.waiting(), painted = [];
      seen = found.seen;
      for (const panel of found.late) {
        if (painted.length && performance.now() - began > FRAME) break;
        // Before it is painted: what a picture finds out while it is, may ask for it once more.
        Object.assign(panel, { stale: false, step: model.step });
        panel.paint();
        painted.push(panel);
        this.last = panel;
      }
      left = found.late.length - painted.length;
      view.transport.draw();
      view.card.draw();
      view.own.draw();
      // Words change only after the pictures are painted: text on a canvas asks for clean styles each time.
      for (const panel of painted) panel.write();
      for (const panel of view.panels) if (panel.asleep) panel.rest();
    }
    view.header.draw();
    const painting = performance.now() - began, spent = painting + (view.spent || 0);
    view.spent = 0;
    const step = Math.min(model.step, ...seen.map((panel) => panel.step ?? -1));
    view.root.dataset.step = step;
    view.root.dispatchEvent(new CustomEvent("acs-drawn", { detail: { step, at: Date.now(), spent, bytes: view.bytes, left } }));
    view.acknowledge();
    if (!left) this.hurried = false;
    else if (this.hurried) this.ask();
    else { clearTimeout(this.resting); this.resting = setTimeout(() => this.ask(), REST * painting); }
  }

  // A picture that plays: all are asked for, and as many as fit are painted in this frame.
  play() {
    this.schedule();
    cancelAnimationFrame(this.frame);
    this.frame = 0;
    this.draw();
  }

  leave() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.resting);
  }
}
