/** The playground: choose a verifier or a recipe, write a response, and see the verdict as you type. */
import { byId, make, saveAs } from "./dom.js";
import { call, json, problem, whenKeyIsGiven } from "./call.js";
import { exact } from "./exact.js";
import { paramsForm } from "./form.js";
import { forms, packed, unpacked } from "./share.js";
import { verdict } from "./verdict.js";

const PAUSE_MS = 300;
/** Browsers do not take longer addresses. */
const MAX_LINK_CHARS = 1_000_000;
const fields = { response: byId("response"), reference: byId("reference"), prompt: byId("prompt"), isJson: byId("is-json") };
let catalogue = [];
let chosen = null;
let readParams = () => ({});
let timer = null;
let asked = null;
let shown = null;

async function start() {
  const [verifiers, recipes] = await Promise.all(["/v1/verifiers", "/v1/recipes"].map((path) => json(path)));
  catalogue = [
    ...verifiers.verifiers.map((each) => ({ ...each, kind: "verifier" })),
    ...recipes.recipes.map((each) => ({ kind: "recipe", name: each.name, summary: each.about || each.checks.map((check) => check.name).join(", "), examples: [], params_schema: {} })),
  ];
  list();
  const first = catalogue.find((each) => each.name === "math") || catalogue[0];
  choose(first);
  if (location.hash.length <= 1 && !fields.response.value && first.examples.length) open(itemOf(first, first.examples[0]));
  openLink();
}

/** Open the case in the address, if there is one. */
function openLink() {
  const given = unpacked(location.hash.slice(1));
  if (given) open(given);
  else if (location.hash.length > 1) say("This link holds no whole case. Perhaps it was cut; copy it again.");
}

function list() {
  const wanted = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (each) => wanted.every((word) => `${each.name} ${each.summary}`.toLowerCase().includes(word));
  const entry = (each) => make("li", {}, make("button", { type: "button", "aria-pressed": String(each === chosen), title: each.summary, onclick: () => choose(each) }, each.name, make("small", {}, each.summary)));
  const group = (kind, title) => {
    const found = catalogue.filter((each) => each.kind === kind && fits(each));
    return found.length ? [make("li", { class: "group" }, title), ...found.map(entry)] : [];
  };
  const found = [...group("verifier", "Verifiers"), ...group("recipe", "Recipes")];
  byId("catalogue").replaceChildren(...(found.length ? found : [make("li", { class: "quiet" }, "Nothing has these words.")]));
}

function choose(entry, params = {}) {
  chosen = entry;
  list();
  byId("name").textContent = entry.name;
  byId("summary").textContent = entry.summary;
  byId("examples").replaceChildren(...entry.examples.map((example) => make("button", { type: "button", title: example.note, onclick: () => open(itemOf(entry, example)) },
    `${example.score === null || example.score === undefined ? example.status : example.score}: ${example.note || example.reason}`)));
  if (entry.kind === "verifier") readParams = paramsForm(byId("params"), entry.params_schema, params, later);
  else readParams = paramsForm(byId("params"), { properties: { params: { default: null } } }, { params: Object.keys(params).length ? params : null }, later);
  later();
}

function itemOf(entry, example) {
  const { reference, ...params } = example.params;
  return { verifier: entry.name, response: example.response, reference, params, ...(example.prompt ? { prompt: example.prompt } : {}) };
}

/** Fill the page with a case. */
function open(item) {
  const kind = item.recipe ? "recipe" : "verifier";
  const entry = catalogue.find((each) => each.kind === kind && each.name === item[kind]);
  if (!entry) return say(item[kind] ? `This service has no ${kind} ${item[kind]}.` : "This link names no verifier and no recipe.");
  fields.response.value = written(item.response);
  fields.isJson.checked = item.reference !== undefined && typeof item.reference !== "string";
  fields.reference.value = item.reference === undefined ? "" : fields.isJson.checked ? JSON.stringify(item.reference, null, 1) : item.reference;
  fields.prompt.value = written(item.prompt ?? "");
  byId("prompt-box").open = Boolean(item.prompt);
  return choose(entry, item.params || {});
}

/** The case on the page. It raises where a field that must be JSON is not. */
function itemOnPage() {
  const item = { [chosen.kind]: chosen.name, response: said(fields.response.value) };
  const reference = fields.reference.value;
  if (fields.isJson.checked && reference.trim()) {
    try { item.reference = exact(reference); } catch (error) { throw new Error(`The reference is not JSON: ${error.message}`); }
  } else if (reference !== "") item.reference = reference;
  if (fields.prompt.value) item.prompt = said(fields.prompt.value);
  const params = chosen.kind === "verifier" ? readParams() : readParams().params || {};
  if (Object.keys(params).length) item.params = params;
  return item;
}

const written = (given) => (typeof given === "string" ? given : JSON.stringify(given));

/** A text, or the messages that it holds as JSON. */
function said(text) {
  if (!text.trimStart().startsWith('[{"')) return text;
  try { return exact(text); } catch { return text; }
}

/** Ask again after a pause. From now on the verdict on the page is of an older case: it cannot be shared. */
function later() {
  clearTimeout(timer);
  if (asked) asked.abort();
  asked = new AbortController();
  byId("verdict").ariaBusy = "true";
  byId("share").hidden = true;
  byId("copied").textContent = "";
  timer = setTimeout(judge, PAUSE_MS, asked);
}

async function judge(mine) {
  try {
    if (!fields.response.value) return shown && rest();
    const item = itemOnPage();
    const body = JSON.stringify({ items: [item], explain: true });
    const reply = await call("/v1/score", { method: "POST", headers: { "Content-Type": "application/json" }, body, signal: mine.signal });
    if (!reply.ok) return say(await problem(reply));
    show(item, exact(await reply.text()).results[0]);
  } catch (error) {
    if (error.name !== "AbortError") say(error.message);
  } finally {
    if (mine === asked) byId("verdict").ariaBusy = null;
  }
}

/** Nothing is judged. */
function rest() {
  shown = null;
  byId("verdict").replaceChildren(make("p", { class: "quiet" }, "Choose an example, or write a response."));
}

function show(item, result) {
  shown = item;
  byId("verdict").replaceChildren(...verdict(item, result));
  byId("share").hidden = false;
  const link = packed(item);
  const fits = link.length <= MAX_LINK_CHARS;
  document.querySelector('[data-copy="link"]').disabled = !fits;
  history.replaceState(null, "", fits ? `#${link}` : " ");
}

function say(message) {
  byId("share").hidden = true;
  byId("verdict").replaceChildren(make("p", { class: "failed" }, message));
}

const save = () => saveAs(new Blob([JSON.stringify(shown) + "\n"], { type: "application/x-ndjson" }), `${chosen.name}.jsonl`);

for (const field of Object.values(fields)) field.addEventListener("input", later);
byId("search").addEventListener("input", list);
byId("save").addEventListener("click", save);
whenKeyIsGiven(() => start().catch((error) => say(error.message)));
for (const button of document.querySelectorAll("[data-copy]"))
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(forms[button.dataset.copy](shown));
    byId("copied").textContent = "Copied.";
  });
addEventListener("hashchange", () => {
  if (catalogue.length) openLink();
});
start().catch((error) => say(error.message));
