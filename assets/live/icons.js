// Pictures on buttons and in legends, drawn as paths: no font is asked for a sign that it may not have.

const SPACE = "http://www.w3.org/2000/svg";
const PATHS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  back: "M12 3v10L4 8z",
  next: "M4 3v10l8-5z",
  last: "M3 3v10l7-5zM11 3h2v10h-2z",
  fill: "M9 2h5v5h-2V5.4L9.4 8 8 6.6 10.6 4H9zM7 14H2V9h2v1.6L6.6 8 8 9.4 5.4 12H7z",
  shrink: "M8.5 2.5h2v1.6L13 1.6 14.4 3 11.9 5.5h1.6v2h-5zM7.5 13.5h-2v-1.6L3 14.4 1.6 13l2.5-2.5H2.5v-2h5z",
  "●": "M8 3a5 5 0 1 0 0 10 5 5 0 1 0 0-10z",
  "■": "M3.5 3.5h9v9h-9z",
  "▲": "M8 2.5l6 11H2z",
  "◆": "M8 2l6 6-6 6-6-6z",
  "✚": "M6.5 2h3v4.5H14v3H9.5V14h-3V9.5H2v-3h4.5z",
  "╌": "M1 7h4v2H1zM6.5 7h4v2h-4zM12 7h3v2h-3z",
  "○": "M8 3a5 5 0 1 0 0 10 5 5 0 1 0 0-10zM8 4.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 1 1 0-6.8z",
};

// An icon in the colour of the text around it; what it means is said by the label of what holds it.
export function icon(name) {
  const node = document.createElementNS(SPACE, "svg"), path = document.createElementNS(SPACE, "path");
  node.setAttribute("viewBox", "0 0 16 16");
  node.setAttribute("class", "acs-icon");
  node.setAttribute("aria-hidden", "true");
  path.setAttribute("d", PATHS[name]);
  path.setAttribute("fill", "currentColor");
  path.setAttribute("fill-rule", "evenodd");
  node.append(path);
  return node;
}
