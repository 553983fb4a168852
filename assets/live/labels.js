// Labels of reference lines: each on its own line where no curve runs through it; the legend names what finds no room.

const TALL = 12, SAMPLES = 9, GAP = 4;
const PLACES = [[1, -1], [1, 1], [0.5, -1], [0.5, 1], [0, -1], [0, 1]];  // right, middle, left; above its line, below it
const PLATE = 0.85;
const ROOM = 1, MOST = 3;  // how crowded a place may be for a label to come to it, and for one that stands there to stay

// How often curves run through a box, looked at from left to right; between two rows a curve is a straight line.
function crowd(lines, { x, y }, box, until) {
  let n = 0;
  for (let k = 0; k < SAMPLES; k++) {
    const step = x.value(box.left + ((box.right - box.left) * k) / (SAMPLES - 1));
    if (step > until) break;
    for (const { series, curve } of lines) {
      const i = series.at(step), j = Math.min(i + 1, series.n - 1);
      if (i < 0) continue;
      const part = j > i ? (step - series.steps[i]) / (series.steps[j] - series.steps[i]) : 0;
      for (const values of curve.seeds && series.seeds.length > 1 ? [series.mean, ...series.seeds] : [series.mean]) {
        const [a, b] = [values[i], values[j]].map((v) => (y.log && v <= 0 ? NaN : y.place(v))), at = a + (b - a) * part;
        if (at >= box.top && at <= box.bottom) n += values === series.mean ? 3 : 1;
      }
    }
  }
  return n;
}

const meets = (a, b) => a.left < b.right + GAP && b.left < a.right + GAP && a.top < b.bottom && b.top < a.bottom;

// Writes `words` ({text, base}) and returns those for which there is no room; `kept` remembers where each stood, so
// that it moves only for much more room.
export function writeLabels(context, theme, words, lines, area, until, kept) {
  const taken = [], unwritten = [];
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const { text, base } of words) {
    const wide = context.measureText(text).width, room = area.right - area.left - wide - 10;
    const look = ([along, side]) => {
      const left = area.left + 4 + Math.max(0, room) * along, top = side < 0 ? base - TALL : base + 1;
      const box = { left, right: left + wide, top, bottom: top + TALL };
      const shut = room < 0 || top < area.top - TALL || box.bottom > area.bottom || taken.some((other) => meets(other, box));
      return { box, n: shut ? Infinity : crowd(lines, area, box, until), place: [along, side] };
    };
    const before = kept.has(text) ? look(kept.get(text)) : null, stays = before && before.n <= MOST;
    const chosen = stays ? before : PLACES.map(look).reduce((a, b) => (b.n < a.n ? b : a));
    if (!stays && chosen.n > ROOM) {
      kept.delete(text);
      unwritten.push(text);
      continue;
    }
    kept.set(text, chosen.place);
    taken.push(chosen.box);
    context.globalAlpha = PLATE;
    context.fillStyle = theme.background;
    context.fillRect(chosen.box.left - 2, chosen.box.top, wide + 4, TALL);
    context.globalAlpha = 1;
    context.fillStyle = theme.faint;
    context.fillText(text, chosen.box.left, chosen.box.top + TALL / 2);
  }
  return unwritten;
}
