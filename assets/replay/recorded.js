// Stands in for socket.js: the messages lie in the page, so what is chosen is answered at once and nothing is asked.

import { decode } from "./wire.js";

const COUNT_AT = 24;  // of the blocks, in the header that sandbox/live/wire.py describes

function bytesOf(text) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

export class Connection {
  constructor(data, view) {
    Object.assign(this, { view, recording: data.recording, known: new Map(), opened: false, shown: "" });
    queueMicrotask(() => this.open());  // the view keeps us first
  }

  open() {
    const { view, recording: { hello, events, n_events: n, scales } } = this;
    view.onConnection("connected");
    view.onHello(hello);
    view.onEvents({ events, whole: true, n });
    view.onScales(scales);
    view.onStatus(hello.status);
    this.opened = true;
    this.show();
  }

  // The whole message for what is chosen, put together from its chunks.
  show() {
    const { view, recording } = this, { arm, seed, layer, head } = view.model.selection;
    const choice = [arm, seed, layer, head].join("/"), parts = recording.parts[choice];
    if (!parts || choice === this.shown) return;
    this.shown = choice;
    const header = bytesOf(recording.header), chunks = parts.map((part) => this.chunk(part));
    const count = parts.reduce((sum, part) => sum + recording.chunks[part][0], 0);
    const message = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, header.length));
    message.set(header);
    new DataView(message.buffer).setUint16(COUNT_AT, count, true);
    message.set([arm, seed, layer, head], COUNT_AT - 4);
    let at = header.length;
    for (const chunk of chunks) { message.set(chunk, at); at += chunk.length; }
    view.onUpdate(decode(message.buffer, recording.hello.states));
  }

  chunk(part) {
    if (!this.known.has(part)) this.known.set(part, bytesOf(this.recording.chunks[part][1]));
    return this.known.get(part);
  }

  select() { if (this.opened) this.show(); }
  startOver() {}
  acknowledge() {}
  command() {}
  close() {}
}
