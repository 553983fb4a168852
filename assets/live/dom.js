// Small things every view needs: elements made of text only, numbers as people read them.

export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") node.className = value;
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(node.style, value);
    else if (name in node && !name.startsWith("aria") && name !== "role") node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}

// The nodes become the children, in their order; one that stands right already is not touched.
export function arrange(parent, nodes) {
  for (const node of [...parent.childNodes]) if (!nodes.includes(node)) node.remove();
  nodes.forEach((node, i) => { if (parent.childNodes[i] !== node) parent.insertBefore(node, parent.childNodes[i] || null); });
}

export function setText(node, text) {
  if (node.textContent === text) return;
  if (text && node.firstChild?.nodeType === Node.TEXT_NODE && node.childNodes.length === 1) node.firstChild.data = text;
  else node.textContent = text;
}

// Saying once more that something is hidden, or is not, has the browser work out its style again.
export function setHidden(node, hidden) {
  if (node.hidden !== hidden) node.hidden = hidden;
}

// Text that changes with every picture, in a box of its own size, which is that of the `widest` it may become: the
// browser lays out that box alone, and nothing beside it moves.
export function setBoxed(node, text, widest = "") {
  const room = `${Math.max(text.length, widest.length)}ch`;
  if (node.style.width !== room) node.style.width = room;
  setText(node, text);
}

// Text that may be cut short where there is little room: all of it is told to whoever points at it.
export function setWhole(node, text) {
  setText(node, text);
  if (node.title !== text) node.title = text;
}

// Arrow keys move within a group of radio buttons, as a form's own would.
export function onArrows(button, group) {
  button.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const buttons = group(), next = buttons[(buttons.indexOf(button) + by + buttons.length) % buttons.length];
    event.preventDefault();
    next.focus();
    next.click();
  });
}

export function number(value, digits = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace("-", "−").replace("e+", "e");
  const text = size >= 1000 ? grouped(value.toFixed(0)) : value.toPrecision(digits);
  return text.replace("-", "−");
}

// Shares stand below one another: all have the same digits, and only a whole one is 100.0.
export function share(value) {
  if (!Number.isFinite(value)) return "NaN";
  const text = (100 * value).toFixed(1);
  return `${text === "100.0" && value < 1 ? "99.9" : text} %`;
}

// Groups of three digits before the point, as sandbox/foundations/written.py writes them: 12,000.
export const grouped = (text) => text.length < 4 ? text : text.replace(/\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, ","));

export const whole = (value) => grouped(String(Math.round(value)));

// "1 seed", "3 seeds".
export const counted = (n, one) => `${n < 1e3 ? n : whole(n)} ${one}${n === 1 ? "" : "s"}`;

export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const s = Math.max(0, Math.round(seconds));
  if (s < 3600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
  return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} min`;
}

export const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;
