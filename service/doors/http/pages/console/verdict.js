/** The verdict on one response, for people. */
import { make } from "./dom.js";

const SHOWN_CHARS = 20000;
const SHOWN_APART = new Set(["span", "channel", "candidates", "tests", "error_patterns", "reference_as_read", "answer_as_read", "message"]);
const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const words = (reason) => reason.replaceAll("_", " ");

export function verdict(item, result) {
  const detail = result.detail || {};
  return [
    headline(result),
    detail.message ? make("p", { dir: "auto" }, detail.message) : null,
    marked(item.response, detail.span, result.extracted),
    sides(item, result, detail),
    (detail.error_patterns || []).map((each) => make("p", {}, make("strong", {}, words(each.code.toLowerCase())), ": ", each.detail)),
    tests(detail.tests),
    checks(result.checks),
    rest(detail),
    make("details", {}, make("summary", {}, "Result as JSON"), make("pre", {}, JSON.stringify(result, null, 2))),
  ].flat().filter((each) => each !== null);
}

function headline(result) {
  const kind = result.status === "ok" && result.score < 1 ? "zero" : result.status;
  const score = result.status === "ok" ? [make("span", { class: "score" }, result.score.toFixed(3).replace(/\.?0+$/, ""))] : [];
  const reward = result.status === "ok" && result.reward !== result.score ? [` reward ${result.reward}, `] : [];
  const judge = result.recipe || result.verifier;
  const by = judge ? ` by ${judge}${result.version ? ` ${result.version}` : ""}` : "";
  return make("p", {}, score, make("span", { class: `badge ${kind}` }, result.status), " ", reward, words(result.reason), make("span", { class: "quiet" }, by));
}

/** The response with the answer marked. Of a long response only the part around the answer is shown. */
function marked(response, span, extracted) {
  if (!span) return extracted === null || extracted === undefined ? null : make("p", {}, "Answer: ", make("code", { dir: "auto" }, extracted));
  const letters = Array.from(response);
  const [start, end] = span;
  const first = Math.max(0, start - SHOWN_CHARS), last = Math.min(letters.length, end + SHOWN_CHARS);
  const part = (from, to) => letters.slice(from, to).join("");
  return make("pre", { dir: "auto", "aria-label": "The response, with the answer marked", tabindex: 0 },
    first > 0 ? "… " : "", part(first, start), make("mark", { title: "the answer" }, part(start, end)), part(end, last), last < letters.length ? " …" : "");
}

function sides(item, result, detail) {
  if (detail.reference_as_read === undefined && detail.answer_as_read === undefined) return null;
  const side = (title, text, read) => make("div", {}, make("strong", {}, title), make("div", {}, typeset(text)), read === undefined ? null : make("code", { class: "quiet" }, `read as ${read}`));
  return make("div", { class: "sides" },
    side("Answer", result.extracted ?? "", detail.answer_as_read),
    side("Reference", plain(item.reference ?? ""), detail.reference_as_read));
}

function typeset(text) {
  const box = make("span", { dir: "auto" });
  const formula = text.replace(/^\$+|\$+$/g, "");
  try {
    window.katex.render(formula, box, { throwOnError: true, trust: false, maxSize: 10, maxExpand: 200, strict: "ignore" });
  } catch {
    box.replaceChildren(text);
  }
  return box;
}

function tests(found) {
  if (!found || !found.length) return null;
  const rows = found.map((each) => make("tr", {}, make("td", {}, each.name ?? ""), make("td", { class: each.status === "pass" ? "ok" : "zero" }, words(each.status ?? "")),
    make("td", {}, each.cpu_s === undefined ? "" : `${(each.cpu_s * 1000).toFixed(1)} ms`), make("td", { dir: "auto" }, each.difference ?? "")));
  return table("Tests", ["test", "outcome", "CPU", "difference"], rows);
}

function checks(found) {
  if (!found) return null;
  const rows = found.map((each) => make("tr", {}, make("td", {}, each.name), make("td", {}, each.status), make("td", {}, each.score ?? ""), make("td", {}, each.weight ?? ""),
    make("td", {}, each.value === null || each.value === undefined ? "" : [make("meter", { min: 0, max: 1, value: each.value, "aria-label": "value" }), ` ${each.value}`]), make("td", {}, words(each.reason ?? ""))));
  return table("Checks of the recipe", ["check", "status", "score", "weight", "value", "reason"], rows);
}

function rest(detail) {
  const rows = Object.entries(detail).filter(([name]) => !SHOWN_APART.has(name))
    .map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, words(name)), make("td", { dir: "auto" }, plain(value))));
  if (detail.candidates) rows.push(make("tr", {}, make("th", { scope: "row" }, "candidates"), make("td", { dir: "auto" }, detail.candidates.map(plain).join("   "))));
  if (detail.channel) rows.push(make("tr", {}, make("th", { scope: "row" }, "found by"), make("td", {}, words(detail.channel))));
  return rows.length ? make("table", {}, make("caption", { class: "quiet" }, "Why"), make("tbody", {}, rows)) : null;
}

function table(caption, heads, rows) {
  return make("table", {}, make("caption", { class: "quiet" }, caption), make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows));
}
