// Entry of the live view: one view per place on the page, rebuilt whenever the place is.

import { Address } from "./address.js";
import { View } from "./view.js";

const views = new WeakMap();
const homeless = new Set();  // views whose place was taken away a moment ago
const GRACE = 1500;
const LONGEST_OPENING = 15000, LOOK = 100, PATIENCE = 400;
let opening = null;

// Starts a view before the page is there; it moves into its place when `mount` is called for it.
// Returns a promise of its first picture, which does not wait long.
export function open(data) {
  const page = document.getElementById("acs-opening"), root = page.querySelector(".acs-live");
  const chosen = Object.entries(localStorage).find(([key]) => key.startsWith("stActiveTheme-"))?.[1] || "";
  const dark = /dark/i.test(chosen) || (!/light/i.test(chosen) && matchMedia("(prefers-color-scheme: dark)").matches);
  page.dataset.theme = dark ? "dark" : "light";
  const view = new View(root, data);
  views.set(root, view);
  opening = { page, root, view };
  const address = location.pathname, began = Date.now();
  const watch = setInterval(() => {
    if (opening?.root !== root) return clearInterval(watch);
    // Where Streamlit has gone on to another of its pages, nobody will take this view over.
    if (location.pathname === address && Date.now() - began < LONGEST_OPENING) return;
    view.leave();
    opening = null;
    page.remove();
  }, LOOK);
  return new Promise((resolve) => {
    setTimeout(resolve, PATIENCE);
    root.addEventListener("acs-drawn", () => { if (view.model.step >= 0) resolve(); });
  });
}

const shows = (view, data) => !view.gone && view.data.run === data.run && view.data.mode === data.mode;

function takeOver(place, data) {
  const { page, root, view } = opening;
  if (!shows(view, data)) return place;
  opening = null;
  move(root, place);
  page.remove();
  return root;
}

// Streamlit sometimes makes the place anew, under load or as a page changes around it: the view moves in with its
// connection, what was pressed, zoomed and chosen, and its pictures.
function moveIn(place, data) {
  const kept = views.get(place), view = kept && shows(kept, data) ? null : [...homeless].find((one) => shows(one, data));
  if (!view) return place;
  kept?.leave();
  move(view.root, place);
  return view.root;
}

// Moved, not rebuilt: what is playing goes on, and the focus stays where the browser can keep it.
function move(root, place) {
  const parent = place.parentNode;
  if (parent.moveBefore && root.isConnected) parent.moveBefore(root, place);
  else parent.insertBefore(root, place);
  place.remove();
}

// `act` tells the page what was pressed that is the page's to do, as a name and a value.
export function mount(parent, data, act = null) {
  let root = parent.querySelector(".acs-live");
  if (opening) root = takeOver(root, data);
  root = moveIn(root, data);
  if (data.height) Object.assign(root.style, { height: `${data.height}px`, overflow: "auto" });
  const kept = views.get(root);
  if (kept && shows(kept, data)) {
    // Streamlit runs us again when the theme or the token changes: what is zoomed and chosen stays.
    clearTimeout(kept.leaving);
    homeless.delete(kept);
    kept.connection.allow(data.token);
    kept.schedule();
  } else {
    kept?.leave();
    views.set(root, new View(root, data));
  }
  const view = views.get(root);
  view.act = act;
  view.address ||= new Address(view);
  view.schedule();
  style(() => view.schedule());
  const mine = (view.mounts = (view.mounts || 0) + 1);
  return () => {
    // Streamlit may call this late, after the next mount: the place is that one's then, and the view stays.
    if (view.mounts !== mine) return;
    homeless.add(view);
    view.leaving = setTimeout(() => {
      homeless.delete(view);
      view.leave();
    }, GRACE);
  };
}

// Pages of the app name the style sheet themselves; a page that is older than the server names another.
function style(loaded) {
  const id = "acs-live-style", href = new URL("live.css", import.meta.url).href;
  const kept = document.getElementById(id);
  if (kept?.href === href) return loaded();
  kept?.remove();
  document.head.append(Object.assign(document.createElement("link"), { id, rel: "stylesheet", href, onload: loaded }));
}
