// What is pointed at or pinned, as a key that all pictures know; a token at a place has one for every picture.

// The key of whatever stands at a place of the sequence.
export const placeKey = (place) => `place:${place}`;

// The place that a key speaks of, counted from 0; null where it speaks of none.
export function placeOf(key) {
  const [what, which] = (key || "").split(":");
  if (what === "place" || what === "position") return Number(which);
  return what === "token" && which.includes("@") ? Number(which.split("@")[1]) : null;
}

export const markedKey = (view) => view.pointed || view.pinned;

// "[MAX @ 3" stands at place 2; null where the label names none.
export function placeInWords(label) {
  const found = / @ (\d+)$/.exec(label);
  return found ? Number(found[1]) - 1 : null;
}
