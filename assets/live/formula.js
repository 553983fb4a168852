// Formulas from plain text: single letters are variables, `_` sets low and `^` sets high what follows; words stay upright.

import { el } from "./dom.js";

const PARTS = /([_^])(-?(?:\{[^}]*\}|[\p{Lu}\p{Ll}\p{Lo}\p{Nd}]+|\S))|((?:[\p{Lu}\p{Ll}\p{Lo}]\p{M}*)+)/gu;

// The nodes that show the text; together they have its letters, without the signs that set them.
export function formula(text) {
  const nodes = [];
  let end = 0;
  for (const found of text.matchAll(PARTS)) {
    const [whole, sign, set, word] = found;
    nodes.push(text.slice(end, found.index));
    if (sign) nodes.push(el(sign === "_" ? "sub" : "sup", {}, ...formula(set.replace(/[{}]/g, ""))));
    else nodes.push([...word.replace(/\p{M}/gu, "")].length === 1 ? el("i", {}, word) : word);
    end = found.index + whole.length;
  }
  nodes.push(text.slice(end));
  return nodes.filter((node) => node !== "");
}

const SIGN = /(?<![\p{L}\p{N}.])(\p{L})_(\p{L}+|\p{N}+)/gu;

// A sentence in which signs such as κ_eff have their index low.
export function prose(text) {
  const nodes = [];
  let end = 0;
  for (const { 0: whole, 1: letter, 2: set, index } of text.matchAll(SIGN)) {
    nodes.push(text.slice(end, index), letter, el("sub", {}, set));
    end = index + whole.length;
  }
  return [...nodes, text.slice(end)];
}
