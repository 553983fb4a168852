// Every head's attention at once, small: one column per head, one row per layer, its entropy under it; a click chooses it.

import { number } from "./dom.js";

export class HeadGrid {
  constructor() { this.boxes = []; this.images = new Map(); }

  draw(context, view, reading, box) {
    const frame = view.model.frameAt("grid", reading, view.until());
    this.boxes = [];
    if (!frame) return false;
    const { theme } = view, gap = 8, under = 15;
    // Layers under each other, or further beside each other where that makes the maps larger.
    const n = frame.layers * frame.heads, shape = Math.min(1, Math.max(0.2, frame.queries / frame.keys));
    const fit = (columns) => Math.min((box.width - gap * (columns - 1)) / columns, (box.height / Math.ceil(n / columns) - under - 4) / shape, 150);
    const columns = Array.from({ length: frame.layers }, (_, k) => (k + 1) * frame.heads).reduce((best, c) => (fit(c) > fit(best) + 1 ? c : best), frame.heads);
    const side = Math.max(10, fit(columns)), tall = side * shape;
    const left = box.x + Math.max(0, (box.width - columns * side - gap * (columns - 1)) / 2);
    context.imageSmoothingEnabled = false;
    context.textAlign = "left";
    context.textBaseline = "top";
    for (let layer = 0; layer < frame.layers; layer++) {
      for (let head = 0; head < frame.heads; head++) {
        const at = layer * frame.heads + head, x = left + (at % columns) * (side + gap), y = box.y + Math.floor(at / columns) * (tall + under + 4);
        const chosen = view.model.selection.layer === layer && view.model.selection.head === head;
        context.drawImage(this.image(theme, frame, at), x, y, side, tall);
        context.strokeStyle = chosen ? theme.accent : theme.axis;
        context.lineWidth = chosen ? 2 : 1;
        context.strokeRect(x, y, side, tall);
        context.fillStyle = chosen ? theme.text : theme.faint;
        const name = frame.layers > 1 ? `${layer + 1}.${head + 1}` : String(head + 1), entropy = view.model.value("attention entropy/entropy", view.until(), layer, head);
        context.fillText(side > 46 && entropy !== undefined ? `${name} · H ${number(entropy, 2)}` : name, x, y + tall + 3);
        this.boxes.push({ x, y, side, tall: tall + under, layer, head });
      }
    }
    return true;
  }

  image(theme, frame, at) {
    const kept = this.images.get(at);
    if (kept?.frame === frame && kept.ramp === theme.ramp) return kept.canvas;
    const canvas = kept?.canvas || document.createElement("canvas"), cells = frame.queries * frame.keys;
    canvas.width = frame.keys;
    canvas.height = frame.queries;
    const context = canvas.getContext("2d"), pixels = context.createImageData(frame.keys, frame.queries);
    const most = frame.maxima[at] || 0;
    for (let i = 0; i < cells; i++) {
      const shade = 3 * Math.min(255, Math.round(frame.cells[at * cells + i] * most));
      pixels.data.set([theme.ramp[shade], theme.ramp[shade + 1], theme.ramp[shade + 2], 255], 4 * i);
    }
    context.putImageData(pixels, 0, 0);
    this.images.set(at, { frame, ramp: theme.ramp, canvas });
    return canvas;
  }

  at(x, y) { return this.boxes.find((b) => x >= b.x && x <= b.x + b.side && y >= b.y && y <= b.y + b.tall) || null; }
}
