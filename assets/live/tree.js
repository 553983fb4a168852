// The tree of one expression: the stronger a token is shaded, the more attention it gets; beside it the model's answer.

import { number, share } from "./dom.js";
import { markedKey, placeKey, placeOf } from "./marks.js";
import { prepare } from "./theme.js";

const ANSWER = "probe answers", LEAST = 26;

export class Tree {
  constructor(panel, canvas) { Object.assign(this, { panel, canvas, also: panel.beside, most: 0, note: "", legend: null, places: [], said: [] }); }

  draw(view) {
    const { context, width, height } = prepare(this.canvas, view.theme.font), { theme, model } = view, { arm } = model.selection;
    const frame = model.frameAt("table", this.panel.reading, view.until()), meta = model.meta(this.panel.reading, arm);
    this.places = [];
    this.said = [];
    if (!frame || !meta?.row_labels || width < 120) return;
    const tokens = meta.row_labels, answer = this.answer(view, tokens.join(" "));
    // One scale for all arms, which widens over the run and never shrinks; what it is now is printed.
    this.most = model.scales[this.panel.reading]?.range?.[1] ?? 0;
    const right = answer ? Math.min(150, width * 0.3) : 0;
    this.tree(context, theme, tokens, frame.values, width - right - 10, height - 8, placeOf(markedKey(view)));
    if (answer) this.bars(context, theme, answer, width - right + 8, right - 10, height);
    const verdict = answer ? ` · answers ${answer.labels[answer.best]} with ${share(answer.values[answer.best])}${answer.truth === undefined ? "" : answer.best === answer.truth ? ", right" : `, wrong: it is ${answer.labels[answer.truth]}`}` : "";
    this.note = `step ${frame.step}${verdict} · strongest shade: ${number(this.most, 2)} of the attention`;
    this.said.unshift(["answer", answer ? answer.labels[answer.best] : "not read", verdict.slice(3)]);
  }

  answer(view, words) {
    const { model } = view, meta = model.meta(ANSWER, model.selection.arm), frame = model.frameAt("table", ANSWER, view.until());
    const row = meta?.row_labels?.indexOf(words) ?? -1;
    if (row < 0 || !frame) return null;
    const values = [...frame.values.slice(row * frame.columns, (row + 1) * frame.columns)];
    return { values, labels: meta.column_labels, truth: meta.truth[row], best: values.indexOf(Math.max(...values)) };
  }

  tree(context, theme, tokens, values, width, height, chosen) {
    const nodes = grown(tokens), deep = Math.max(...nodes.map((node) => node.depth)), wide = Math.max(...nodes.map((node) => node.place)) || 1;
    const r = Math.max(6, Math.min(14, width / (2.3 * (wide + 1)))), top = r + 6;
    const x = (node) => r + 4 + (node.place / wide) * (width - 2 * r - 8), y = (node) => top + (deep ? (node.depth / deep) * (height - 2 * r - 14) : 0);
    context.strokeStyle = theme.axis;
    context.lineWidth = 1;
    context.beginPath();
    for (const node of nodes) if (node.parent) { context.moveTo(x(node.parent), y(node.parent)); context.lineTo(x(node), y(node)); }
    context.stroke();
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (const node of nodes) {
      const part = this.most > 0 ? values[node.token] / this.most : 0, shade = 3 * Math.max(0, Math.min(255, Math.round(255 * part))), word = node.word.replace("[", ""), operator = node.word.startsWith("[");
      context.fillStyle = Number.isFinite(part) ? `rgb(${theme.ramp[shade]},${theme.ramp[shade + 1]},${theme.ramp[shade + 2]})` : theme.background;
      context.strokeStyle = node.token === chosen ? theme.accent : theme.axis;
      context.lineWidth = node.token === chosen ? 2.5 : 1;
      const w = operator ? Math.max(r, context.measureText(word).width / 2 + 5) : node.word === "]" ? r * 0.6 : r, h = node.word === "]" ? r * 0.6 : r;
      context.beginPath();
      if (operator || node.word === "]") context.roundRect(x(node) - w, y(node) - h, 2 * w, 2 * h, operator ? 5 : 2);
      else context.arc(x(node), y(node), r, 0, 2 * Math.PI);
      context.fill();
      context.stroke();
      if (r >= 6 && node.word !== "]") { context.fillStyle = part > 0.55 ? theme.background : theme.text; context.fillText(word, x(node), y(node) + 0.5); }
      this.places.push({ x: x(node), y: y(node), key: placeKey(node.token), label: `${node.word} (token ${node.token + 1} of ${tokens.length})`, group: `receives ${number(values[node.token])} of the attention` });
      this.said.push([`${node.word} at ${node.token + 1}`, number(values[node.token]), "attention received"]);
    }
  }

  bars(context, theme, answer, left, width, height) {
    const row = Math.min(LEAST, (height - 22) / answer.labels.length), digits = 14;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.fillStyle = theme.faint;
    context.fillText("answer", left, 8);
    answer.labels.forEach((label, c) => {
      const y = 22 + (c + 0.5) * row, bar = Math.max(0, width - digits - 14) * (answer.values[c] || 0);
      context.fillStyle = c === answer.best ? theme.text : theme.faint;
      context.fillText(label, left, y);
      context.fillStyle = c === answer.best ? theme.accent : theme.axis;
      context.fillRect(left + digits, y - row * 0.3, bar, row * 0.6);
      if (c !== answer.truth) return;
      context.strokeStyle = theme.text;
      context.lineWidth = 1.4;
      context.beginPath();
      const x = left + digits + bar + 8;
      context.moveTo(x, y);
      context.lineTo(x + 6, y - 4);
      context.lineTo(x + 6, y + 4);
      context.closePath();
      context.stroke();
    });
  }

  at(x, y) {
    let best = null, least = 260;
    for (const p of this.places) { const d = (p.x - x) ** 2 + (p.y - y) ** 2; if (d < least) { least = d; best = p; } }
    return best;
  }

  table() { return this.said; }
}

// Nodes of the tree in the order of their tokens; leaves take places from left to right, operators the middle of theirs.
function grown(tokens) {
  const nodes = [], open = [];
  let place = 0;
  tokens.forEach((word, token) => {
    const parent = open[open.length - 1] || null, node = { word, token, parent, depth: open.length, place: 0, children: [] };
    nodes.push(node);
    if (parent) parent.children.push(node);
    if (word.startsWith("[")) open.push(node);
    else {
      node.place = place++;
      if (word === "]") open.pop();
    }
  });
  for (const node of [...nodes].reverse()) if (node.children.length) node.place = node.children.reduce((sum, child) => sum + child.place, 0) / node.children.length;
  return nodes;
}
