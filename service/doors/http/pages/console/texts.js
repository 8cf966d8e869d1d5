/** Long texts of callers, folded. */
import { make } from "./dom.js";

const PIECE_CHARS = 20000;
const MOST_HIGHLIGHTS = 1000;

/** A text under its title. It is shown as text, whatever it holds. */
export function folded(title, whole, isOpen) {
  return make("details", { open: isOpen }, make("summary", {}, title), make("pre", { dir: "auto", tabindex: 0, "aria-label": title }, shown(whole)));
}

/** A long text shows its beginning, and the whole on demand. */
export function shown(whole) {
  if (whole.length <= PIECE_CHARS) return whole;
  const [first, ...others] = pieces(whole);
  const rest = make("button", { type: "button", onclick: () => rest.replaceWith(...others.map((piece) => make("span", { class: "piece" }, piece))) }, `show ${(whole.length - first.length).toLocaleString("en")} more characters`);
  return [first, rest];
}

/** A text in pieces that are blocks of their own, because a browser needs a quarter of a minute for one of a million
 * characters. They end with a line, or in a line that is longer. */
function pieces(whole) {
  const parts = [];
  for (let start = 0; start < whole.length; start += parts.at(-1).length) {
    const most = whole.slice(start, start + PIECE_CHARS);
    const line = most.lastIndexOf("\n") + 1;
    const isHalf = /[\uD800-\uDBFF]$/.test(most);
    parts.push(start + most.length === whole.length ? most : most.slice(0, line || most.length - isHalf));
  }
  return parts;
}

/** Highlight a text wherever it stands within one text of an element, in upper or lower case. */
export function highlight(element, text) {
  const ranges = [];
  const wanted = text.toLowerCase();
  const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (wanted && ranges.length < MOST_HIGHLIGHTS && nodes.nextNode()) {
    const node = nodes.currentNode;
    const lower = node.data.toLowerCase();
    if (lower.length !== node.data.length) continue;  // some letters have another length in lower case
    for (let at = lower.indexOf(wanted); at >= 0 && ranges.length < MOST_HIGHLIGHTS; at = lower.indexOf(wanted, at + wanted.length))
      ranges.push(new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + wanted.length }));
  }
  CSS.highlights?.set("searched", new Highlight(...ranges));
}
