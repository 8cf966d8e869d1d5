/** The audit of a data set: choose a file, say what its columns are for, and see what is wrong with its rows. */
import { byId, make, saveAs } from "./dom.js";
import { call, json, problem, whenKeyIsGiven } from "./call.js";
import { exact, isKept } from "./exact.js";
import { mended } from "./mend.js";
import { prompts } from "./prompts.js";
import { packed } from "./share.js";

const POLL_MS = 700;
const SAMPLE_BYTES = 262144;
const SHOWN_CHARS = 3000;
const LABELS = ["domain", "data_source", "tag", "verifier", "recipe", "checks"];
const USUAL = { reference: ["reference", "ground_truth", "gold", "answer", "solution", "reward_model.ground_truth"], prompt: ["prompt", "question", "problem"] };
const SEVERITIES = { wrong_reward: "wrong reward", no_reward: "no reward", hint: "hint" };
const NAMED = ["reference", "solution", "prompt", "params", "limit"];
const FIRST_ROWS = 5;
const ASKED_AGAIN = "The page asks again.";
const field = (name) => byId(`set-${name}`);
const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const words = (text) => text.replaceAll("_", " ");
const number = (value) => value.toLocaleString("en");
let chosen = null;
let maxMb = Infinity;
let audited = null;
let shown = null;
let tag = null;
let sending = null;
let asking = 0;
const kinds = new Map();

async function start() {
  const kept = await json("/v1/audits");
  byId("audit-box").hidden = !kept.takes_files;
  byId("earlier-title").textContent = kept.takes_files ? "Audits of the last hour" : "Stored audits";
  if (kept.takes_files) await offer();
  byId("path-box").hidden = !kept.takes_paths;
  maxMb = kept.max_mb;
  earlier(kept.audits);
  say(kept.takes_files || kept.audits.length ? "" : "There are no stored audits here. Make one: rewardline audit FILE -o REPORT.json");
  open();
}

async function offer() {
  const [verifiers, recipes] = await Promise.all(["/v1/verifiers", "/v1/recipes"].map((path) => json(path)));
  const group = (kind, label, names) => make("optgroup", { label }, names.map((name) => make("option", { value: `${kind}:${name}` }, name)));
  byId("judge").replaceChildren(
    make("option", { value: "" }, "the rows' own labels"),
    group("verifier", "Verifiers", verifiers.verifiers.map((each) => each.name)),
    group("recipe", "Recipes", recipes.recipes.map((each) => each.name)));
}

function say(message) {
  byId("said").textContent = message;
}

function earlier(audits) {
  byId("earlier-box").hidden = !audits.length;
  byId("earlier").replaceChildren(...audits.map((each) => make("li", {},
    make("a", { href: `#${each.audit_id}` }, make("bdi", {}, each.name)), `: ${each.state}, ${number(each.rows)} rows, ${number(each.bad_rows)} with findings`)));
}

/** Show what the file holds, and guess what its columns are for. */
async function choose(file) {
  chosen = file;
  say("");
  byId("columns").replaceChildren();
  byId("sample").hidden = true;
  for (const name of Object.keys(USUAL)) field(name).value = "";
  if (!file) return;
  let row;
  try {
    row = exact((await file.slice(0, SAMPLE_BYTES).text()).split("\n").find((line) => line.trim()));
  } catch {
    return; // Parquet, or a long or damaged line: the audit says what is wrong
  }
  if (row === null || typeof row !== "object" || Array.isArray(row)) return;
  const columns = Object.entries(row).flatMap(([name, value]) =>
    value !== null && typeof value === "object" && !Array.isArray(value) && !isKept(value) ? [name, ...Object.keys(value).map((part) => `${name}.${part}`)] : [name]);
  byId("columns").replaceChildren(...columns.slice(0, 200).map((value) => make("option", { value })));
  for (const [name, usual] of Object.entries(USUAL)) field(name).value = usual.find((each) => columns.includes(each)) || "";
  if (!byId("judge").value && !LABELS.some((label) => row[label])) byId("judge").value = row.test_cases ? "verifier:code" : "verifier:math";
  byId("first").textContent = JSON.stringify(row, null, 1).slice(0, SHOWN_CHARS);
  byId("sample").hidden = false;
}

function options() {
  const given = Object.fromEntries(NAMED.map((name) => [name, field(name).value.trim()]).filter(([, value]) => value));
  const [kind, name] = byId("judge").value.split(/:(.*)/);
  return kind ? { ...given, [kind]: name } : given;
}

async function begin() {
  const path = byId("path").value.trim();
  if (!chosen && !path) return say("Choose a file first.");
  if (chosen && chosen.size > maxMb * 1e6) return say(`The file has more than ${number(maxMb)} MB. Send a part of it, or run "rewardline audit FILE".`);
  if (sending) sending.abort();
  sending = new AbortController();
  const given = options();
  say("");
  byId("go").disabled = true;
  try {
    byId("go").textContent = chosen ? `Sending ${number(Math.ceil(chosen.size / 1e6))} MB …` : "Asking …";
    const request = chosen
      ? [`/v1/audits?${new URLSearchParams({ ...given, name: chosen.name.slice(0, 256) })}`, "application/x-ndjson", chosen]
      : ["/v1/audits", "application/json", JSON.stringify({ ...given, ...(given.limit ? { limit: Number(given.limit) } : {}), path })];
    const [where, media, body] = request;
    const reply = await call(where, { method: "POST", headers: { "Content-Type": media }, body, signal: sending.signal });
    if (!reply.ok) return say(await problem(reply));
    const { audit_id: id } = await reply.json();
    audited = { id, file: chosen };
    location.hash = id;
  } catch (error) {
    if (error.name === "AbortError") return;
    say(chosen ? "The file could not be sent. Check that the service runs. If the file has changed, choose it again." : error.message);
  } finally {
    byId("go").disabled = false;
    byId("go").textContent = "Audit";
  }
}

/** Show the audit that the address names. */
function open() {
  const id = location.hash.slice(1);
  asking += 1;
  byId("found").hidden = true;
  if (!/^[0-9a-f]{32}$/.test(id)) return id ? say("This link names no audit. Begin one, or choose one of the list.") : null;
  say("");
  tag = null;
  kinds.clear();
  byId("kinds").replaceChildren();
  byId("taken").textContent = "";
  poll(id, asking);
}

async function poll(id, turn) {
  if (turn !== asking) return;
  try {
    const reply = await call(`/v1/audits/${id}`, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
    if (turn !== asking) return;
    if (byId("said").textContent.endsWith(ASKED_AGAIN)) say("");
    if (reply.status !== 304) {
      if (!reply.ok) {
        byId("found").hidden = true;
        return say(await problem(reply));
      }
      tag = reply.headers.get("ETag");
      show(exact(await reply.text()));
    }
  } catch (error) {
    say(`${error.message} ${ASKED_AGAIN}`);
  }
  if (!shown || shown.audit_id !== id || shown.state === "running") setTimeout(() => poll(id, turn), POLL_MS);
  else json("/v1/audits").then((kept) => earlier(kept.audits), (error) => say(error.message));
}

function show(view) {
  shown = view;
  byId("found").hidden = false;
  byId("found-title").replaceChildren("Audit of ", make("bdi", {}, view.name));
  byId("progress").value = view.fraction;
  byId("progress-box").hidden = view.state !== "running";
  const of = view.total_rows ? ` of ${number(view.total_rows)}` : "";
  const state = view.state === "running" ? `${Math.floor(view.fraction * 100)} %` : view.state;
  const why = view.problem ? `: ${view.problem}` : "";
  const rate = view.rows_per_s ? `, ${number(Math.round(view.rows_per_s))} a second` : "";
  byId("status").replaceChildren(make("strong", {}, `${state}${why}`), `. ${number(view.rows)}${of} rows${rate}; `,
    make("strong", {}, `${number(view.bad_rows)} with findings`), ".");
  byId("counts").textContent = counts(view);
  byId("fix").hidden = !view.fixes;
  byId("fix").textContent = canMend() ? `Download with ${number(view.fixes)} values mended` : `Download ${number(view.fixes)} mended values`;
  byId("earned").replaceChildren(...earned(view.earned));
  const box = byId("kinds");
  view.kinds.forEach((kind, place) => {
    const element = kindShown(kind);
    if (box.children[place] !== element) box.insertBefore(element, box.children[place] || null);
  });
  if (view.state === "done" && !view.kinds.length) byId("counts").textContent += " Nothing was found.";
}

const listed = (found) => Object.entries(found).sort((one, other) => other[1] - one[1]).map(([name, count]) => `${words(name)} ${number(count)}`).join(", ");

function counts(view) {
  const parts = [`${number(view.checks)} references looked at, ${number(view.own_answers)} of them with a right response.`];
  if (view.unjudged) parts.push(`${number(view.unjudged)} could not be judged by this service (${listed(view.unjudged_reasons)}).`);
  if (Object.keys(view.recipes).length) parts.push(`Judged by: ${listed(view.recipes)}.`);
  if (Object.keys(view.references).length) parts.push(`References of mathematics: ${listed(view.references)}.`);
  return parts.join(" ");
}

function earned(bins) {
  const most = Math.max(...bins.map((each) => each.responses));
  if (!most) return [];
  const bar = (each) => {
    const element = make("div", { class: "bar" });
    element.style.width = `${(100 * each.responses) / most}%`;
    return each.responses ? element : "";
  };
  const rows = bins.filter((each, place) => each.responses || place === 0 || place === bins.length - 1).map((each) => make("tr", {}, make("th", { scope: "row" }, each.up_to), make("td", {}, bar(each)), make("td", {}, number(each.responses))));
  return [make("table", { class: "bars" }, make("caption", {}, make("strong", {}, "What right responses earn")),
    make("thead", {}, make("tr", {}, ["score up to", "share", "responses"].map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows))];
}

const key = (kind) => `${kind.verifier}/${kind.reason}`;

/** Make or refresh the section of a kind. What has not changed stays, so that nobody loses their place. */
function kindShown(kind) {
  const held = kinds.get(key(kind)) || newKind(kind);
  held.count.textContent = `${number(kind.rows)} rows`;
  held.body.append(...kind.examples.slice(held.body.children.length).map(exampleRow));
  const rows = held.body.children.length;
  held.more.hidden = rows <= FIRST_ROWS || held.body.classList.contains("all");
  held.more.textContent = `Show ${number(rows)} rows`;
  held.rest.textContent = kind.rows > rows ? `${number(kind.rows - rows)} more are only counted.` : "";
  return held.element;
}

function newKind(kind) {
  const body = make("tbody");
  const held = { body, count: make("span"), rest: make("p", { class: "quiet" }) };
  held.more = make("button", { type: "button", onclick: () => { body.classList.add("all"); held.more.hidden = true; } });
  const table = make("table", {}, make("thead", {}, make("tr", {}, ["row", "what", "about", "mend"].map((head) => make("th", { scope: "col" }, head)))), body);
  held.element = make("section", { class: "kind" },
    make("h3", {}, make("span", { class: `badge ${kind.severity}` }, SEVERITIES[kind.severity]), words(kind.reason), kind.verifier ? make("span", { class: "quiet" }, kind.verifier) : "", held.count),
    make("p", {}, kind.advice),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `Rows: ${words(kind.reason)} ${kind.verifier || ""}` }, table),
    held.more, held.rest);
  kinds.set(key(kind), held);
  return held;
}

function exampleRow(example) {
  const told = Object.entries(example.told).map(([name, value]) => make("span", { class: "told" }, `${name}: `, make("code", {}, make("bdi", {}, plain(value)))));
  return make("tr", {},
    make("td", {}, number(example.row), example.id ? make("span", { class: "told quiet" }, make("bdi", {}, example.id)) : ""),
    make("td", {}, make("bdi", {}, example.message)),
    make("td", {}, told),
    make("td", {}, example.fix ? fixOf(example.fix) : "", tryIt(example.item)));
}

function fixOf(fix) {
  const value = plain(fix.value);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    byId("taken").textContent = "Copied.";
  };
  return make("span", { class: "told" }, `${fix.path.join(".")} = `, make("code", {}, make("bdi", {}, value)), " ", make("button", { type: "button", "aria-label": `Copy ${value.slice(0, 40)}`, onclick: copy }, "Copy"));
}

/** A link to the playground, where there is one. */
function tryIt(item) {
  return item && document.querySelector('nav a[href="/"]') ? make("a", { href: `/#${packed(item)}` }, "Try it") : "";
}

const canMend = () => Boolean(audited && shown && audited.id === shown.audit_id && audited.file && !/\.parquet$/i.test(audited.file.name));

async function take(path, name, made = (reply) => reply.blob()) {
  byId("taken").textContent = "";
  const reply = await call(`/v1/audits/${shown.audit_id}/${path}`);
  if (!reply.ok) return say(await problem(reply));
  saveAs(await made(reply), name);
}

async function takeFixes() {
  const fixes = async (reply) => (await reply.text()).split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const stem = shown.name.replace(/\.[^.]*$/, "");
  if (canMend()) await take("fixes", `${stem}.mended.jsonl`, async (reply) => mended(audited.file, await fixes(reply)));
  else await take("fixes", `${stem}.fixes.jsonl`);
}

const orSay = (work) => () => work().catch((error) => say(error.message));
byId("begin").addEventListener("submit", (event) => {
  event.preventDefault();
  begin();
});
byId("file").addEventListener("change", () => choose(byId("file").files[0] || null));
byId("stop").addEventListener("click", orSay(() => json(`/v1/audits/${shown.audit_id}`, { method: "DELETE" })));
byId("save").addEventListener("click", orSay(() => take("report", `${shown.name}.audit.html`)));
byId("fix").addEventListener("click", orSay(takeFixes));
for (const name of ["dragover", "dragleave", "drop"])
  byId("drop").addEventListener(name, (event) => {
    event.preventDefault();
    byId("drop").classList.toggle("over", name === "dragover");
    if (name !== "drop" || !event.dataTransfer.files.length) return;
    byId("file").files = event.dataTransfer.files;
    choose(byId("file").files[0]);
  });
addEventListener("hashchange", open);
/** `rewardline view` has no runs. */
byId("prompts").hidden = !document.querySelector('nav a[href="/console/watch"]');
const begun = () => {
  start().catch((error) => say(error.message));
  if (!byId("prompts").hidden) prompts();
};
addEventListener("popstate", () => byId("prompts").hidden || prompts());
whenKeyIsGiven(begun);
begun();
