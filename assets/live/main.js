// Entry of the live view: one view per place on the page, rebuilt whenever the place is.

import { View } from "./view.js";

const views = new WeakMap();
const GRACE = 250;

export function mount(parent, data) {
  const root = parent.querySelector(".acs-live");
  if (data.height) Object.assign(root.style, { height: `${data.height}px`, overflow: "auto" });
  const kept = views.get(root);
  if (kept && !kept.gone && kept.data.run === data.run && kept.data.mode === data.mode) {
    // Streamlit runs us again when the theme or the token changes: what is zoomed and chosen stays.
    clearTimeout(kept.leaving);
    kept.connection.token = data.token;
    kept.schedule();
  } else {
    kept?.leave();
    views.set(root, new View(root, data));
  }
  const view = views.get(root);
  style(() => view.schedule());
  return () => { view.leaving = setTimeout(() => view.leave(), root.isConnected ? GRACE : 0); };
}

// For a page on which a view will stand soon: importing us was the greater part.
export function prepare() { style(() => {}); }

function style(loaded) {
  const id = "acs-live-style", href = new URL("live.css", import.meta.url).href;
  const kept = document.getElementById(id);
  if (kept?.href === href) return loaded();
  kept?.remove();
  document.head.append(Object.assign(document.createElement("link"), { id, rel: "stylesheet", href, onload: loaded }));
}
