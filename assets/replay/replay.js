// Entry of a saved replay: the live view over the recording that the page carries.

import { View } from "./view.js";

const recording = JSON.parse(document.getElementById("acs-recording").textContent);
export const view = new View(document.querySelector(".acs-live"), { mode: "replay", run: recording.hello.run, recording });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.schedule());
