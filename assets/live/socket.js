// The connection: asks for what is missing, says what it has drawn, and comes back by itself.

import { decode } from "./wire.js";

const FIRST_WAIT = 250, LONGEST_WAIT = 8000;
const LONGEST_OPENING = 10000;  // ms after which a connection that does not come about is tried anew
const ANSWER = 4000;  // ms after which a press without an answer is said again, over a new connection
const MOST_TRIES = 6;
const REFUSED = 4401;

export class Connection {
  // `view` has model, onHello, onStatus, onUpdate, onCommand, onConnection.
  constructor(data, view) {
    this.view = view;
    this.token = data.token;
    this.run = data.run;
    this.closed = false;
    this.refused = false;
    this.wait = FIRST_WAIT;
    this.presses = [];  // buttons pressed that the server has not answered yet, in their order
    this.open();
  }

  address() {
    const url = new URL(`live/ws/${encodeURIComponent(this.run)}`, document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    url.searchParams.set("token", this.token);
    return url.href;
  }

  open() {
    clearTimeout(this.timer);
    if (this.closed) return;
    const socket = (this.socket = new WebSocket(this.address()));
    const slow = setTimeout(() => socket.close(), LONGEST_OPENING);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      clearTimeout(slow);
      if (this.socket !== socket) return;
      this.view.onConnection("connected");
      this.send({ since: this.view.model.since(), select: this.view.model.selection });
      for (const press of this.presses) this.tell(press);
    };
    socket.onmessage = (event) => { if (this.socket === socket) this.receive(event.data); };
    socket.onclose = (event) => {
      clearTimeout(slow);
      if (this.closed || this.socket !== socket) return;
      if (event.code === REFUSED) { this.refused = true; return; }
      this.view.onConnection("lost");
      this.timer = setTimeout(() => this.open(), this.wait * (0.75 + Math.random() / 2));
      this.wait = Math.min(LONGEST_WAIT, this.wait * 2);
    };
  }

  // A fresh permission; a connection that was refused for want of one is taken up again.
  allow(token) {
    const again = this.refused && token !== this.token;
    this.token = token;
    if (!again) return;
    this.refused = false;
    this.open();
  }

  receive(data) {
    this.wait = FIRST_WAIT;
    if (typeof data !== "string") {
      this.view.onUpdate(decode(data, this.view.model.hello.states));
      return;
    }
    const message = JSON.parse(data);
    if (message.type === "hello") this.view.onHello(message);
    else if (message.type === "scales") this.view.onScales(message.scales);
    else if (message.type === "status") this.view.onStatus(message.status);
    else if (message.type === "events") this.view.onEvents(message);
    else if (message.type === "command") this.answered(message);
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

  // A button that is pressed acts once, however often it has to be said: its name tells the server that it is the
  // same press. One pressed while the connection is away, or cut before the answer, is said when it is back.
  command(command) {
    const press = { command, press: `${Date.now().toString(36)}.${Math.random().toString(36).slice(2)}`, tries: 0 };
    this.presses.push(press);
    this.tell(press);
  }

  tell(press) {
    if (!this.say({ command: press.command, press: press.press })) return;
    press.tries++;
    clearTimeout(press.timer);
    press.timer = setTimeout(() => this.unanswered(press), ANSWER);
  }

  // The connection may be dead without either end having noticed.
  unanswered(press) {
    if (this.closed || !this.presses.includes(press)) return;
    if (press.tries >= MOST_TRIES) this.answered({ command: press.command, press: press.press, done: false, reason: "The server does not answer; press again." });
    else if (this.socket.readyState === WebSocket.OPEN) this.renew();
  }

  answered(message) {
    this.presses = this.presses.filter((one) => one.press !== message.press);
    this.view.onCommand(message);
  }

  renew() {
    const before = this.socket;
    this.open();
    before.close();
  }

  startOver() { this.send({ since: -1, select: this.view.model.selection }); }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    for (const press of this.presses) clearTimeout(press.timer);
    this.socket?.close();
  }
}
