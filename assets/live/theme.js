// Colours of the page (Streamlit's variables) and of the arms (palette.json, through the hello).

const VARIABLES = ["--st-background-color", "--st-text-color", "--st-primary-color", "--st-font"];
let known = null;

// The same object as long as the page's colours stay: what is drawn in them need not be made anew.
export function readTheme(node, palette) {
  const style = getComputedStyle(node), values = VARIABLES.map((name) => style.getPropertyValue(name).trim()), key = values.join();
  if (known?.key !== key || known.palette !== palette) known = { key, palette, theme: themeOf((name, otherwise) => values[VARIABLES.indexOf(name)] || otherwise, palette) };
  return known.theme;
}

function themeOf(variable, palette) {
  const background = variable("--st-background-color", "#ffffff");
  const dark = brightness(background) < 0.5;
  const mode = dark ? "dark" : "light";
  return {
    dark,
    background,
    text: variable("--st-text-color", dark ? "#fafafa" : "#31333f"),
    faint: dark ? "rgba(250,250,250,0.62)" : "rgba(49,51,63,0.66)",
    grid: dark ? "rgba(250,250,250,0.09)" : "rgba(49,51,63,0.09)",
    axis: dark ? "rgba(250,250,250,0.28)" : "rgba(49,51,63,0.26)",
    reference: dark ? "rgba(250,250,250,0.42)" : "rgba(49,51,63,0.42)",
    accent: variable("--st-primary-color", "#0072b2"),
    font: variable("--st-font", "system-ui, sans-serif"),
    alarm: dark ? "#ff8a80" : "#b3261e",
    good: dark ? "#3ecf94" : "#12805a",
    rgb: channels,
    arms: palette ? palette.arms.map((arm) => ({ ...arm, colour: arm[mode] })) : [],
    groups: palette ? palette.groups.map((group) => group[mode]) : [],
    heads: palette ? palette.heads : [],
    ramp: palette ? ramp(palette.sequential[mode]) : null,
  };
}

export const armStyle = (theme, arm) => theme.arms[arm % theme.arms.length];

function channels(colour) {
  const probe = channels.context || (channels.context = document.createElement("canvas").getContext("2d"));
  probe.fillStyle = "#000";
  probe.fillStyle = colour;
  const text = probe.fillStyle;
  if (text.startsWith("#")) return [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16));
  return text.match(/[\d.]+/g).slice(0, 3).map(Number);
}

function brightness(colour) {
  const [r, g, b] = channels(colour);
  return (0.299 * r + 0.587 * g + 0.114 * b) / 255;
}

// 256 colours between the stops, as RGB triples in one array.
function ramp(stops) {
  const parts = stops.map(channels);
  const out = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; i++) {
    const at = (i / 255) * (parts.length - 1), low = Math.min(Math.floor(at), parts.length - 2);
    for (let c = 0; c < 3; c++) out[3 * i + c] = parts[low][c] + (parts[low + 1][c] - parts[low][c]) * (at - low);
  }
  return out;
}

// The ramp from the greatest value at the top to 0, as a picture one pixel wide.
let drawnRamp = null;
export function rampPicture(ramp) {
  if (drawnRamp?.ramp === ramp) return drawnRamp.canvas;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: 1, height: 256 });
  const context = canvas.getContext("2d"), pixels = context.createImageData(1, 256);
  for (let i = 0; i < 256; i++) pixels.data.set([...ramp.subarray(3 * (255 - i), 3 * (256 - i)), 255], 4 * i);
  context.putImageData(pixels, 0, 0);
  drawnRamp = { ramp, canvas };
  return canvas;
}

// Sizes as the browser reports them: asking for them while drawing would lay the page out again each time.
const sizes = new WeakMap(), fonts = new WeakMap();
const watcher = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    sizes.set(target, [contentRect.width, contentRect.height]);
    target.dispatchEvent(new Event("acs-resized", { bubbles: true }));
  }
});

export function sizeOf(canvas) {
  if (!sizes.has(canvas)) {
    sizes.set(canvas, [canvas.clientWidth, canvas.clientHeight]);
    watcher.observe(canvas);
  }
  return sizes.get(canvas);
}

// A canvas sized to its box in device pixels, cleared, with its context in CSS pixels, or in larger ones
// where `canvas.scale` asks for larger type.
export function prepare(canvas, font) {
  const scale = canvas.scale || 1, ratio = (window.devicePixelRatio || 1) * scale;
  const [width, height] = sizeOf(canvas).map((length) => length / scale);
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  const resized = canvas.width !== w || canvas.height !== h;
  if (resized) { canvas.width = w; canvas.height = h; }
  const context = canvas.getContext("2d");
  // Setting a font resolves styles again even where it is the same one.
  if (font && (resized || fonts.get(canvas) !== font)) { context.font = `11px ${font}`; fonts.set(canvas, font); }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

// An arm's line and marker, across the whole of a small canvas.
export function armKey(context, style, width, height, line, size) {
  context.strokeStyle = context.fillStyle = style.colour;
  context.lineWidth = line;
  context.beginPath();
  context.moveTo(2, height / 2);
  context.lineTo(width - 2, height / 2);
  context.stroke();
  marker(context, style.marker, width / 2, height / 2, size);
  context.fill();
}

export function marker(context, shape, x, y, r) {
  context.beginPath();
  const corners = {
    square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
    diamond: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
    "triangle-up": [[0, -1.2], [1.15, 0.9], [-1.15, 0.9]],
    "triangle-down": [[0, 1.2], [1.15, -0.9], [-1.15, -0.9]],
    star: [[0, -1.5], [0.4, -0.4], [1.5, 0], [0.4, 0.4], [0, 1.5], [-0.4, 0.4], [-1.5, 0], [-0.4, -0.4]],
    x: [[-1.2, -0.7], [-0.7, -1.2], [0, -0.5], [0.7, -1.2], [1.2, -0.7], [0.5, 0], [1.2, 0.7], [0.7, 1.2], [0, 0.5], [-0.7, 1.2], [-1.2, 0.7], [-0.5, 0]],
    cross: [[-0.4, -1.3], [0.4, -1.3], [0.4, -0.4], [1.3, -0.4], [1.3, 0.4], [0.4, 0.4], [0.4, 1.3], [-0.4, 1.3], [-0.4, 0.4], [-1.3, 0.4], [-1.3, -0.4], [-0.4, -0.4]],
  }[shape];
  if (corners) corners.forEach(([cx, cy], i) => (i ? context.lineTo(x + cx * r, y + cy * r) : context.moveTo(x + cx * r, y + cy * r)));
  else context.arc(x, y, r * 1.1, 0, 2 * Math.PI);
  context.closePath();
}
