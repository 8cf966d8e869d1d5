/** The verdict on one response, for people. */
import { make } from "./dom.js";

const WHOLE_CHARS = 4000;
const AROUND_CHARS = 240;
const LEAST_LEFT_OUT = 80;
/** The words of docs/answers.md for what a response says of a value. */
const STANCES = {
  announced: "called the answer", called: "called right", true: "called true", concluded: "chosen or concluded",
  marked: "in a tag, a box, a field or behind ####", stated: "only said", hedged: "doubted, asked, or one of several",
  supposed: "only assumed", attributed: "said by somebody else", denied: "called wrong", retracted: "taken back or replaced",
};
const SHOWN_APART = new Set(["span", "channel", "mentions", "asked", "candidates", "tests", "error_patterns", "reference_as_read", "answer_as_read", "message"]);
const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const words = (reason) => reason.replaceAll("_", " ");

export function verdict(item, result) {
  const detail = result.detail || {};
  return [
    headline(result),
    detail.message ? make("p", { dir: "auto" }, detail.message) : null,
    response(item, result, detail),
    sides(item, result, detail),
    (detail.error_patterns || []).map((each) => make("p", {}, make("strong", {}, words(each.code.toLowerCase())), ": ", each.detail)),
    tests(detail.tests),
    checks(result.checks),
    asked(result),
    mentions((details(result).find((each) => each.mentions) || {}).mentions),
    rest(detail),
    make("details", {}, make("summary", {}, "Result as JSON"), make("pre", { tabindex: 0 }, JSON.stringify(result, null, 2))),
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

/** The response with all mentions marked by their stances, and the words for these. */
function response(item, result, read) {
  const detail = read.mentions ? read : details(result).find((each) => each.mentions) || read;
  const found = detail.mentions && detail.mentions.length ? detail.mentions : detail.span ? [{ span: detail.span, text: result.extracted, role: "answer" }] : [];
  const letters = Array.from(judged(item.response));
  const fits = found.length && found.every((each) => letters.slice(...each.span).join("").startsWith((each.text || "").replace(/…$/, "")));
  const answer = result.extracted === null || result.extracted === undefined || (fits && detail === read && found.some((each) => each.role)) ? null : make("p", {}, "Answer: ", make("code", { dir: "auto" }, result.extracted));
  return [answer, fits ? marked(letters, found) : null, legend(found)];
}

/** What is known about a verdict, and about each check of a recipe. */
const details = (result) => [result, ...(result.checks || [])].map((each) => each.detail || {});

/** The text that is judged: of messages that of the last one of the assistant. */
function judged(given) {
  if (typeof given === "string") return given;
  const said = given.filter((each) => each.role === "assistant").at(-1);
  return said && typeof said.content === "string" ? said.content : "";
}

/** The text around the mentions; what is far from all of them is left out. */
function marked(letters, found) {
  const box = make("pre", { dir: "auto", "aria-label": "The response, with all mentions of an answer marked", tabindex: 0 });
  const part = (from, to) => letters.slice(from, to).join("");
  const between = (from, to, before, after) => {
    if (to - from <= before + after + LEAST_LEFT_OUT) return box.append(part(from, to));
    return box.append(part(from, from + before), make("span", { class: "quiet" }, ` … ${to - from - before - after} characters … `), part(to - after, to));
  };
  const around = letters.length <= WHOLE_CHARS ? WHOLE_CHARS : AROUND_CHARS;
  let place = 0;
  for (const each of found) {
    const [start, end] = each.span;
    between(place, start, place ? around : 0, around);
    const long = end - start > 4 * AROUND_CHARS;
    box.append(make("mark", { class: kindOf(each), title: about(each) }, long ? `${part(start, start + AROUND_CHARS)} … ${part(end - AROUND_CHARS, end)}` : part(start, end)));
    place = end;
  }
  between(place, letters.length, around, 0);
  return box;
}

const kindOf = (mention) => [mention.stance ? `stance-${mention.stance}` : "", mention.role === "answer" ? "answer" : ""].filter(Boolean).join(" ");
const about = (mention) => [mention.role === "answer" ? "the answer" : "", mention.stance ? `${mention.stance}: ${STANCES[mention.stance] || ""}` : ""].filter(Boolean).join("; ");

function legend(found) {
  const stances = Object.keys(STANCES).filter((stance) => found.some((each) => each.stance === stance));
  const entry = (kind, word, meaning) => make("li", {}, make("span", { class: `swatch ${kind}` }, word), ` ${meaning}`);
  if (!stances.length) return null;
  return make("ul", { class: "legend", "aria-label": "What the marks mean" }, found.some((each) => each.role) ? entry("answer", "answer", "what the response commits to") : null, stances.map((stance) => entry(`stance-${stance}`, stance, STANCES[stance])));
}

function mentions(found) {
  if (!found || !found.length) return null;
  const rows = found.map((each) => make("tr", {}, make("td", { dir: "auto" }, each.text), make("td", {}, each.stance), make("td", {}, each.role ?? ""), make("td", {}, words(each.channel ?? "")), make("td", {}, each.span.join("–"))));
  return make("details", {}, make("summary", {}, `Mentions (${found.length})`), table("All that was read as a possible answer", ["text", "stance", "role", "found by", "characters"], rows));
}

/** What judges were asked, and what they answered: of a recipe, by each of its checks. */
function asked(result) {
  const by = result.checks ? result.checks.map((check) => [check.name, check.detail]) : [["judge", result.detail]];
  return by.flatMap(([name, detail]) => ((detail && detail.asked) || []).map((question, place, all) => make("details", { class: "asked", open: result.status === "failed" },
    make("summary", {}, `Asked of ${name}${all.length > 1 ? `, ${place + 1} of ${all.length}` : ""}: ${question.answers.length} answer${question.answers.length === 1 ? "" : "s"}`),
    make("details", {}, make("summary", {}, "Prompt"), question.messages.flatMap((message) => [make("p", { class: "quiet" }, message.role), make("pre", { dir: "auto", tabindex: 0 }, message.content)])),
    question.answers.map((each) => make("details", { open: true }, make("summary", {}, answered(each)), make("pre", { dir: "auto", tabindex: 0 }, each.text))),
    (question.failures || []).map(withoutVerdict))));
}

/** A vote that gave no verdict: what the model wrote, or each call of an endpoint and why it failed. */
function withoutVerdict(failure) {
  const { kind, endpoint, text, attempts = [] } = failure;
  const said = make("p", { class: "failed" }, `${endpoint || "A vote"} without a verdict: ${words(kind)}`);
  if (text) return make("div", {}, said, make("pre", { dir: "auto", tabindex: 0, "aria-label": `What ${endpoint} wrote` }, text));
  return make("div", {}, said, attempts.length ? make("ol", { "aria-label": "Calls" }, attempts.map((each) => make("li", {}, `${each.endpoint}: ${words(each.kind)}${each.status ? `, HTTP ${each.status}` : ""}`))) : null);
}

const answered = (each) => `${each.endpoint}${each.model && each.model !== each.endpoint ? ` (${each.model})` : ""}: ${plain(each.value)}, score ${each.score}${each.cached ? ", remembered" : ""}`;

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
  const rows = Object.entries(detail).filter(([name]) => !SHOWN_APART.has(name) && !(name === "votes" && detail.asked))
    .map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, words(name)), make("td", { dir: "auto" }, plain(value))));
  if (detail.candidates) rows.push(make("tr", {}, make("th", { scope: "row" }, "candidates"), make("td", { dir: "auto" }, detail.candidates.map(plain).join("   "))));
  if (detail.channel) rows.push(make("tr", {}, make("th", { scope: "row" }, "found by"), make("td", {}, words(detail.channel))));
  return rows.length ? make("table", {}, make("caption", { class: "quiet" }, "Why"), make("tbody", {}, rows)) : null;
}

function table(caption, heads, rows) {
  return make("table", {}, make("caption", { class: "quiet" }, caption), make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows));
}
