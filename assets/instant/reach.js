// How far a plane's axes reach: over the pictures that stand now, with room, and steady while little changes.

const ROOM = 1.25, NEAR = 0.97, FAR = 0.6;

export class Reach {
  constructor() { this.squares = {}; }

  forget() { this.squares = {}; }

  // Take in the points of a layer, [[a, b], ...] of every picture; the square moves where they leave it or shrink away.
  take(name, points) {
    const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
    for (const point of points) for (const axis of [0, 1]) if (Number.isFinite(point[axis])) { low[axis] = Math.min(low[axis], point[axis]); high[axis] = Math.max(high[axis], point[axis]); }
    if (!(low[0] <= high[0] && low[1] <= high[1])) return;
    const kept = this.squares[name], centre = [0, 1].map((axis) => (low[axis] + high[axis]) / 2), half = Math.max(1e-6, (ROOM * Math.max(high[0] - low[0], high[1] - low[1])) / 2);
    if (kept) {
      const out = Math.max(...[0, 1].flatMap((axis) => [high[axis] - kept.centre[axis], kept.centre[axis] - low[axis]])) / kept.half;
      if (out <= NEAR && out >= FAR) return;
    }
    this.squares[name] = { centre, half };
  }
}
