/** Markdown and mathematics of a model as elements. marked reads the text; elements are made of texts alone, so that no
 * markup of a text reaches the page: HTML, links and pictures are shown as they are written. */
import { make } from "./dom.js";
import { shown } from "./texts.js";
import { Marked } from "./vendor/marked/marked.esm.js";

const MOST_CHARS = 60000;
const MOST_FORMULAS = 500;
const FORMULA_CHARS = 4000;
/** Signs between which a formula stands; whether it has a line of its own. */
const FORMULAS = [["$$", "$$", true], ["\\[", "\\]", true], ["\\(", "\\)", false], ["$", "$", false]];

function formula(text, isAlone) {
  const signs = FORMULAS.find(([begin, , alone]) => text.startsWith(begin) && (alone || !isAlone));
  if (!signs) return undefined;
  const [begin, end, displayMode] = signs;
  const stop = text.slice(0, FORMULA_CHARS).indexOf(end, begin.length);
  const inner = text.slice(begin.length, Math.max(stop, 0));
  const after = text[stop + end.length] || "";
  // "costs $5 and $6" has no formula: a sign that closes stands behind what it closes, and before no digit.
  if (!inner.trim() || (begin === "$" && (/^\s|\s$|\n\n/.test(inner) || /\d/.test(after)))) return undefined;
  return { type: "formula", raw: text.slice(0, stop + end.length), inner, displayMode };
}

const marked = new Marked({ gfm: true, breaks: true });
marked.use({
  extensions: [
    { name: "formula", level: "block", start: (text) => before(text, /\$\$|\\\[/), tokenizer: (text) => formula(text, true) },
    { name: "formula", level: "inline", start: (text) => before(text, /\$|\\[[(]/), tokenizer: (text) => formula(text, false) },
  ],
});

function before(text, pattern) {
  const at = text.search(pattern);
  return at < 0 ? undefined : at;
}

/** The elements of a text. One that is too long, or nested too deeply, is shown as it is. */
export function rendered(text) {
  if (text.length > MOST_CHARS) return asWritten(text);
  try {
    const drawing = new Drawing();
    return make("div", { class: "rendered", dir: "auto" }, drawing.all(marked.lexer(text)));
  } catch {
    return asWritten(text);
  }
}

const asWritten = (text) => make("pre", { dir: "auto", tabindex: 0, "aria-label": "Text as it is written" }, shown(text));

class Drawing {
  formulas = 0;

  all(tokens) {
    return (tokens || []).flatMap((token) => this.one(token)).filter((each) => each !== null);
  }

  one(token) {
    const draw = Object.hasOwn(DRAWN, token.type) ? DRAWN[token.type] : () => token.raw;
    return draw(token, (tokens) => this.all(tokens), this);
  }

  formula({ inner, displayMode, raw }) {
    const box = make("span", { class: displayMode ? "formula" : "" });
    if (++this.formulas > MOST_FORMULAS) return raw;
    try {
      window.katex.render(inner, box, { displayMode, throwOnError: true, trust: false, maxSize: 10, maxExpand: 200, strict: "ignore" });
      return box;
    } catch {
      return raw;
    }
  }
}

const within = (tag) => (token, all) => make(tag, {}, all(token.tokens));
const DRAWN = {
  space: () => null,
  def: (token) => make("p", {}, token.raw),
  hr: () => make("hr"),
  br: () => make("br"),
  paragraph: within("p"),
  blockquote: within("blockquote"),
  strong: within("strong"),
  em: within("em"),
  del: within("del"),
  heading: (token, all) => make("p", { class: "heading" }, make("strong", {}, all(token.tokens))),
  text: (token, all) => (token.tokens ? make("span", {}, all(token.tokens)) : token.text),
  escape: (token) => token.text,
  codespan: (token) => make("code", {}, token.text),
  code: (token) => [token.lang ? make("small", { class: "quiet" }, token.lang) : null, make("pre", { class: "whole" }, make("code", {}, token.text))],
  list: (token, all) => make(token.ordered ? "ol" : "ul", token.ordered && token.start !== 1 ? { start: token.start } : {}, token.items.map((item) => make("li", {}, all(item.tokens)))),
  checkbox: (token) => (token.checked ? "☑ " : "☐ "),
  table: (token, all) => make("table", {}, make("thead", {}, make("tr", {}, token.header.map((cell) => make("th", { scope: "col" }, all(cell.tokens))))), make("tbody", {}, token.rows.map((row) => make("tr", {}, row.map((cell) => make("td", {}, all(cell.tokens))))))),
  formula: (token, _, drawing) => drawing.formula(token),
};
