// Decoding of live updates; the layout is described in sandbox/live/wire.py.

const ROWS = 1, HEADS = 2, POINTS = 3, MAP = 4, NUMBERS = 5, GRID = 6, TABLE = 7, REGION = 8;
export const FULL = 1;
export const RESELECTED = 2;
const padded = (n) => (n + 3) & ~3;

export function decode(buffer, states) {
  const view = new DataView(buffer);
  if (view.byteLength < 28 || view.getUint16(0) !== 0x4153 || view.getUint8(2) !== 2) {
    throw new Error("This update is of another version; reload the page.");
  }
  const update = {
    flags: view.getUint8(3),
    step: view.getUint32(4, true),
    sequence: view.getUint32(8, true),
    seconds: view.getFloat32(12, true),
    rate: view.getFloat32(16, true),
    selection: { arm: view.getUint8(20), seed: view.getUint8(21), layer: view.getUint8(22), head: view.getUint8(23) },
    state: states[view.getUint8(26)] || "waiting",
    blocks: [],
    bytes: buffer.byteLength,
  };
  let at = 28;
  for (let left = view.getUint16(24, true); left > 0; left--) {
    const [block, next] = READERS[view.getUint8(at)](buffer, view, at);
    update.blocks.push(block);
    at = next;
  }
  return update;
}

const READERS = {
  [ROWS](buffer, view, at) {
    const seeds = view.getUint8(at + 1), n = view.getUint16(at + 2, true), count = view.getUint16(at + 4, true);
    const block = { type: "rows", fresh: view.getUint16(at + 6, true) > 0, thinnedFrom: view.getUint32(at + 8, true), series: [] };
    const pairs = new Uint8Array(buffer, at + 12, 2 * count);
    at += 12 + padded(2 * count);
    block.steps = new Uint32Array(buffer, at, n);
    at += 4 * n;
    for (let s = 0; s < count; s++) {
      const values = [];
      for (let seed = 0; seed < seeds; seed++, at += 4 * n) values.push(new Float32Array(buffer, at, n));
      block.series.push({ column: pairs[2 * s], arm: pairs[2 * s + 1], values });
    }
    return [block, at];
  },
  [HEADS](buffer, view, at) {
    const n = view.getUint8(at + 1), layers = view.getUint8(at + 2), heads = view.getUint8(at + 3);
    const columns = Array.from(new Uint8Array(buffer, at + 8, n));
    const block = { type: "heads", step: view.getUint32(at + 4, true), layers, heads, values: new Map() };
    at += 8 + padded(n);
    for (const column of columns) {
      block.values.set(column, new Float32Array(buffer, at, layers * heads));
      at += 4 * layers * heads;
    }
    return [block, at];
  },
  [POINTS](buffer, view, at) {
    const n = view.getUint16(at + 2, true);
    const [ex, ey, cx, cy, half] = [8, 12, 16, 20, 24].map((o) => view.getFloat32(at + o, true));
    const places = new Int16Array(buffer, at + 28, 2 * n);
    const points = new Float32Array(2 * n);
    for (let i = 0; i < 2 * n; i++) {
      points[i] = places[i] === -32768 ? NaN : (places[i] * half) / 32000 + (i % 2 ? cy : cx);
    }
    const block = { type: "points", kind: view.getUint8(at + 1), step: view.getUint32(at + 4, true), points, explained: [ex, ey] };
    return [block, at + 28 + 4 * n];
  },
  [MAP](buffer, view, at) {
    const queries = view.getUint16(at + 2, true), keys = view.getUint16(at + 4, true);
    const block = {
      type: "map", kind: view.getUint8(at + 1), queries, keys, average: view.getUint16(at + 6, true),
      step: view.getUint32(at + 8, true), maximum: view.getFloat32(at + 12, true),
      cells: new Uint8Array(buffer, at + 16, queries * keys),
    };
    return [block, at + 16 + padded(queries * keys)];
  },
  [REGION](buffer, view, at) {
    const queries = view.getUint16(at + 2, true), keys = view.getUint16(at + 4, true);
    const block = {
      type: "region", kind: view.getUint8(at + 1), queries, keys, average: view.getUint16(at + 6, true),
      step: view.getUint32(at + 8, true), maximum: view.getFloat32(at + 12, true),
      origin: [view.getUint16(at + 16, true), view.getUint16(at + 18, true)],
      cells: new Uint8Array(buffer, at + 20, queries * keys),
    };
    return [block, at + 20 + padded(queries * keys)];
  },
  [NUMBERS](buffer, view, at) {
    const n = view.getUint16(at + 2, true), values = new Float32Array(n);
    for (let i = 0; i < n; i++) values[i] = half(view.getUint16(at + 8 + 2 * i, true));
    return [{ type: "numbers", kind: view.getUint8(at + 1), step: view.getUint32(at + 4, true), values }, at + 8 + padded(2 * n)];
  },
  [GRID](buffer, view, at) {
    const layers = view.getUint8(at + 2), heads = view.getUint8(at + 3);
    const queries = view.getUint16(at + 4, true), keys = view.getUint16(at + 6, true), n = layers * heads;
    const block = {
      type: "grid", kind: view.getUint8(at + 1), layers, heads, queries, keys, average: view.getUint16(at + 8, true),
      step: view.getUint32(at + 12, true), maxima: new Float32Array(buffer, at + 16, n),
      cells: new Uint8Array(buffer, at + 16 + 4 * n, n * queries * keys),
    };
    return [block, at + 16 + 4 * n + padded(n * queries * keys)];
  },
  // Numbers of part p, layer l, head h, row r and column c at (((p * layers + l) * heads + h) * rows + r) * columns + c.
  [TABLE](buffer, view, at) {
    const [parts, layers, heads] = [2, 3, 4].map((o) => view.getUint8(at + o));
    const rows = view.getUint16(at + 6, true), columns = view.getUint16(at + 8, true), n = parts * layers * heads * rows * columns;
    const block = { type: "table", kind: view.getUint8(at + 1), step: view.getUint32(at + 12, true), parts, layers, heads, rows, columns, values: new Float32Array(buffer, at + 16, n) };
    return [block, at + 16 + 4 * n];
  },
};

// The value of sixteen bits in half precision.
export function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, exponent = (bits >> 10) & 31, part = bits & 1023;
  if (exponent === 31) return part ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + part / 1024) * 2 ** (exponent - 15) : part * 2 ** -24);
}
