// Phases and spikes: one line for each arm and seed, its phases as stretches, its loss spikes as triangles; a click goes there.

import { whole } from "./dom.js";
import { LinearScale, niceSteps } from "./scale.js";
import { armStyle, prepare } from "./theme.js";

const LEFT = 30, RIGHT = 10, TOP = 4, BOTTOM = 22, TALLEST = 22, WIDEST_TEXT = 420;
const PALE = { plateau: 0.08, clustering: 0.2, fitting: 0.36 };

export class Happenings {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, places: [], note: "", legend: null, said: [], wraps: true }); }

  // Phases and spikes of one arm and seed up to the shown step, in the order of their steps.
  of(view, arm, seed) {
    const mine = view.model.events.filter(([step, a, s]) => a === arm && s === seed && step <= view.until());
    return { phases: mine.filter(([, , , kind]) => kind === "phase"), spikes: mine.filter(([, , , kind]) => kind === "spike") };
  }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font), { theme, model } = view, { hello, selection } = model;
    const arms = hello.arms.map((_, arm) => arm).filter((arm) => !view.hidden.has(arm)), lines = arms.flatMap((arm) => hello.seeds.map((seed, place) => ({ arm, seed, place })));
    this.places = [];
    this.said = [];
    if (!lines.length || width < 60) return;
    const [x0, x1] = view.zoom || [0, niceSteps(view.replay ? hello.steps : model.step, hello.steps)], x = new LinearScale(x0, x1, LEFT, width - RIGHT);
    const tall = Math.min(TALLEST, (height - TOP - BOTTOM) / lines.length), end = Math.min(model.step, view.until(), x1);
    context.textBaseline = "middle";
    let n = 0;
    lines.forEach(({ arm, seed, place }, i) => {
      const y = TOP + (i + 0.5) * tall, { phases, spikes } = this.of(view, arm, seed), style = armStyle(theme, arm), chosen = arm === selection.arm && place === selection.seed;
      context.fillStyle = chosen ? theme.text : theme.faint;
      context.textAlign = "right";
      if (tall > 9 || place === 0) context.fillText(String(seed), LEFT - 6, y);
      phases.forEach(([from, , , , detail], k) => {
        const name = detail.split(":")[0], to = phases[k + 1]?.[0] ?? end, a = Math.max(x.place(from), LEFT), b = Math.min(x.place(to), width - RIGHT);
        if (b <= a) return;
        this.stretch(context, theme, style, name, a, b, y, tall);
        this.places.push({ x: (a + b) / 2, y, a, b, top: y - tall / 2, tall, step: from, arm, seat: place, label: `${name} from step ${whole(from)} · ${hello.arms[arm]}, seed ${seed}`, group: detail.slice(name.length + 2) });
        this.said.push([`${hello.arms[arm]}, seed ${seed}`, name, `from step ${from}`]);
      });
      if (!phases.length && end > x0) this.stretch(context, theme, style, "", x.place(x0), x.place(end), y, tall);
      for (const [step, , , , detail] of spikes) {
        const at = x.place(step), r = Math.min(5, tall / 2 - 1);
        n++;
        if (at < LEFT || at > width - RIGHT) continue;
        context.fillStyle = theme.alarm;
        context.beginPath();
        context.moveTo(at, y - r);
        context.lineTo(at + r, y + r * 0.8);
        context.lineTo(at - r, y + r * 0.8);
        context.closePath();
        context.fill();
        this.places.push({ x: at, y, a: at - 6, b: at + 6, top: y - tall / 2, tall, step, arm, seat: place, spike: true, label: `Spike at step ${whole(step)} · ${hello.arms[arm]}, seed ${seed}`, group: detail });
        this.said.push([`${hello.arms[arm]}, seed ${seed}`, `spike at step ${step}`, detail]);
      }
    });
    context.fillStyle = theme.faint;
    context.textAlign = "center";
    for (const tick of x.ticks((width - LEFT) / 74)) if (Number.isInteger(tick.value)) context.fillText(tick.label, Math.min(x.place(tick.value), width - 18), TOP + lines.length * tall + 10);
    this.tell(context, theme, view, TOP + lines.length * tall + 34, width, height);
    const now = this.of(view, selection.arm, hello.seeds[selection.seed]), phase = now.phases[now.phases.length - 1]?.[4].split(":")[0];
    this.note = [phase ? `chosen seed: ${phase}` : "no phase is named here", n ? `${model.unheard ? "the latest " : ""}${whole(n)} spike${n > 1 ? "s" : ""} in all seeds${model.unheard ? ` of ${whole(n + model.unheard)}` : ""}; a click goes to one` : "no spike so far"].join(" · ");
    this.legend = arms.map((arm) => ({ name: hello.arms[arm], colour: armStyle(theme, arm).colour, shape: "■" }));
  }

  // Beneath the lines, where there is room: the last spikes and what stood out before each.
  tell(context, theme, view, top, width, height) {
    const spikes = this.places.filter((place) => place.spike).sort((a, b) => b.step - a.step);
    context.textAlign = "left";
    for (let i = 0, y = top; i < spikes.length && y + 15 < height - 6; i++, y += 32) {
      context.fillStyle = theme.text;
      context.fillText(spikes[i].label, 2, y);
      context.fillStyle = theme.faint;
      let words = spikes[i].group;
      while (words.length > 8 && context.measureText(words).width > width - 8) words = `${words.slice(0, -9)}…`;
      context.fillText(words, 2, y + 15);
    }
  }

  stretch(context, theme, style, name, a, b, y, tall) {
    const high = Math.max(3, tall - 4);
    context.fillStyle = context.strokeStyle = style.colour;
    context.globalAlpha = PALE[name] ?? 0.03;
    context.fillRect(a, y - high / 2, b - a, high);
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    context.strokeRect(Math.round(a) + 0.5, Math.round(y - high / 2) + 0.5, Math.max(1, Math.round(b - a) - 1), Math.round(high));
    context.globalAlpha = 1;
    if (!name || high < 11 || context.measureText(name).width > b - a - 6) return;
    context.fillStyle = theme.text;
    context.textAlign = "left";
    context.fillText(name, a + 4, y);
  }

  at(x, y) {
    const here = this.places.filter((p) => x >= p.a && x <= p.b && y >= p.top && y < p.top + p.tall);
    const found = here.find((p) => p.spike) || here[0];
    return found ? { ...found, x: Math.min(x, this.canvas.clientWidth - WIDEST_TEXT / 2), y } : null;
  }

  // Where there is something under the pointer, its step, arm and seed become those that are looked at.
  chooseHead(view, { x, y }) {
    const found = this.at(x, y);
    if (!found) return false;
    view.select({ arm: found.arm, seed: found.seat });
    view.transport.go(found.step);
    return true;
  }

  table() { return this.said.length ? this.said : [["phases and spikes", "0", this.note]]; }
}
