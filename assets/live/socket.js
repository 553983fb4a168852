// The connection: asks for what is missing, says what it has drawn, and comes back by itself.

import { decode } from "./wire.js";

const FIRST_WAIT = 250, LONGEST_WAIT = 8000;
const REFUSED = 4401;

export class Connection {
  // `view` has model, onHello, onStatus, onUpdate, onCommand, onConnection.
  constructor(data, view) {
    this.view = view;
    this.token = data.token;
    this.run = data.run;
    this.closed = false;
    this.wait = FIRST_WAIT;
    this.open();
  }

  address() {
    const url = new URL(`live/ws/${encodeURIComponent(this.run)}`, document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("token", this.token);
    return url.href;
  }

  open() {
    if (this.closed) return;
    const socket = (this.socket = new WebSocket(this.address()));
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.view.onConnection("connected");
      this.send({ since: this.view.model.since(), select: this.view.model.selection });
      if (this.unsent) this.command(this.unsent);
    };
    socket.onmessage = (event) => this.receive(event.data);
    socket.onclose = (event) => {
      if (this.closed || this.socket !== socket) return;
      if (event.code === REFUSED) { this.closed = true; return; }
      this.view.onConnection("lost");
      this.timer = setTimeout(() => this.open(), this.wait * (0.75 + Math.random() / 2));
      this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
    };
  }

  receive(data) {
    if (typeof data !== "string") {
      const update = decode(data, this.view.model.hello.states);
      this.wait = FIRST_WAIT;
      this.view.onUpdate(update);
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "hello") this.view.onHello(message);
    else if (message.type === "scales") this.view.onScales(message.scales);
    else if (message.type === "status") this.view.onStatus(message.status);
    else if (message.type === "events") this.view.onEvents(message.events);
    else if (message.type === "command") this.view.onCommand(message);
    else if (message.type === "stored") this.view.asking.stored(message);
    else if (message.type === "questions") this.view.asking.heard(message.questions);
    else if (message.type === "token") this.token = message.token;
    else if (message.type === "refused") this.view.onConnection("refused", message.reason);
  }

  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  // Whether it could be said; who asks for something rare decides what to do where not.
  say(message) {
    const open = this.socket?.readyState === WebSocket.OPEN;
    if (open) this.send(message);
    return open;
  }

  acknowledge(sequence) { this.send({ ack: sequence }); }
  select(selection) { this.send({ select: selection }); }
  // A button pressed while the connection was away acts as soon as it is back.
  command(command) {
    const away = this.socket?.readyState !== WebSocket.OPEN;
    this.unsent = away ? command : null;
    if (!away) this.send({ command });
  }
  startOver() { this.send({ since: -1, select: this.view.model.selection }); }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.socket?.close();
  }
}
