// The connection to the trainer: the newest wish is all that counts, and it is said again after a break.

import { half } from "./wire.js";

const FIRST_WAIT = 250, LONGEST_WAIT = 8000, REFUSED = 4401;

export class Trainer {
  // `page` has onCurves, onSuccess, onRefused, onLink.
  constructor(data, page) {
    Object.assign(this, { page, session: data.session, token: data.token, number: 0, wish: null, many: null, closed: false, wait: FIRST_WAIT });
    this.open();
  }

  open() {
    if (this.closed) return;
    const url = new URL(`live/instant/${encodeURIComponent(this.session)}`, document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("token", this.token);
    const socket = (this.socket = new WebSocket(url.href));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.page.onLink("connected");
      for (const wish of [this.wish, this.page.success.running ? this.many : null]) if (wish) this.say(wish);
    };
    socket.onmessage = ({ data }) => this.receive(data);
    socket.onclose = (event) => {
      if (this.closed || this.socket !== socket) return;
      if (event.code === REFUSED || event.code === 1000) { this.closed = true; return; }
      this.page.onLink("lost");
      this.timer = setTimeout(() => this.open(), this.wait * (0.75 + Math.random() / 2));
      this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
    };
  }

  receive(data) {
    this.wait = FIRST_WAIT;
    if (typeof data !== "string") {
      this.page.onCurves(decoded(data));
      this.say({ do: "ack" });
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "token") this.token = message.token;
    else if (message.type === "histogram") this.page.onSuccess(message);
    else if (message.type === "refused") this.page.onRefused(message);
    else if (message.type === "lost" && this.page.success.running) this.say(this.many);
  }

  say(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  // Ask for curves ("train", with the seed of the pictures) or for many seeds ("histogram"); answers name it by its number.
  ask(what, knobs, more = {}) {
    const wish = { do: what, id: ++this.number, knobs: { ...knobs }, ...more };
    this[what === "train" ? "wish" : "many"] = wish;
    this.say(wish);
  }

  // Pictures of another seed from now on, also where the wish has to be said again.
  choose(seed) {
    if (this.wish) this.wish.seed = seed;
    this.say({ do: "seed", seed });
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket.close();
  }
}

// JSON with its length before it; then float32 (series, seed, point) and float16 (picture, number).
export function decoded(buffer) {
  const length = new DataView(buffer).getUint32(0, true), head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const points = head.epochs.length, seeds = head.seeds.length;
  let at = 4 + length;
  head.series = Array.from({ length: points ? 4 : 0 }, () => Array.from({ length: seeds }, () => {
    const values = new Float32Array(buffer, at, points);
    at += 4 * points;
    return values;
  }));
  const bits = new Uint16Array(buffer, at, head.frames.length * head.size);
  head.pictures = head.frames.map((_, i) => Float32Array.from(bits.subarray(i * head.size, (i + 1) * head.size), half));
  return head;
}
