/** The log: stored records searched, counted and opened. The address holds the search, so that it can be shared. */
import { byId, make, saveAs } from "./dom.js";
import { call, json, problem, whenKeyIsGiven } from "./call.js";
import { exact } from "./exact.js";
import { bars, histogram, overTime } from "./bars.js";
import { packed } from "./share.js";
import { folded, highlight } from "./texts.js";
import { conversation } from "./conversation.js";
import { correction } from "./correction.js";
import { closeGroup, show } from "./runs.js";
import { verdict } from "./verdict.js";

const REFRESH_MS = 5000;
const CELL_CHARS = 160;
const RESULT = ["id", "status", "score", "reward", "reason", "verifier", "version", "recipe", "extracted", "detail", "checks", "cached", "elapsed_ms"];
const form = byId("filters");
const hasPlayground = Boolean(document.querySelector('nav a[href="/"]'));
const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const words = (reason) => reason.replaceAll("_", " ");
const number = (value) => (value === null || value === undefined ? "" : String(Number(value.toFixed(4))));
const count = (value) => value.toLocaleString("en");
/** The headings that order the table: by which order first, and by which at a second time. */
const ORDERS = { "time (UTC)": ["newest", "oldest"], reward: ["highest", "lowest"] };
/** The names of rows in the order of the table. */
let order = [];
let view = "records";
/** What a view adds to the search. */
let extra = new URLSearchParams();
let following = null;
let openRow = null;
let asked = null;
let timer = null;

/** In these fields a lone "-" stands for records that have none. In a call that is an empty text. */
const MAY_BE_NONE = new Set(["verifier", "data_source", "run"]);
/** What the search of one view alone has. */
const OF_VIEWS = { other: "compare", group_order: "groups" };
const typed = (name, value) => (value === "" && MAY_BE_NONE.has(name) ? "-" : value);
const sent = (name, value) => (value === "-" && MAY_BE_NONE.has(name) ? "" : value);

/** The search in the form, as parameters of a call. */
function query() {
  const given = new URLSearchParams();
  for (const [name, value] of new FormData(form))
    if (value.trim() !== "" && !(name === "order" && value === "newest")) given.append(name, sent(name, value.trim()));
  return given;
}

/** The search, the view and the open record, for the address. */
function address() {
  const given = query();
  if (view !== "records") given.set("view", view);
  for (const [name, value] of extra) given.set(name, value);
  if (openRow !== null) given.set("record", openRow);
  return String(given);
}

/** Put what is shown into the address: a step to go back from, or in place of the present one. */
function keep(step = "pushState") {
  if (location.hash.slice(1) !== address()) history[step](null, "", `#${address()}`);
}

/** Fill the form with the search in the address. */
function fromAddress() {
  fill(new URLSearchParams(location.hash.slice(1)));
}

function fill(given) {
  for (const field of form.elements) {
    if (!field.name) continue;
    const value = given.get(field.name);
    field.value = value === null ? (field.name === "order" ? "newest" : "") : typed(field.name, value);
  }
  view = document.querySelector(`button[data-view="${CSS.escape(given.get("view") || "records")}"]`) ? given.get("view") || "records" : "records";
  extra = new URLSearchParams([...given].filter(([name]) => Object.hasOwn(OF_VIEWS, name)));
  if ([...byId("rare").querySelectorAll("input")].some((field) => field.value !== "")) byId("rare").open = true;
}

/** Show the search and the record in the address. */
async function goOn() {
  fromAddress();
  const row = new URLSearchParams(location.hash.slice(1)).get("record");
  if (row !== openRow) byId("opened").hidden = true;
  const isNew = row !== null && row !== openRow;
  openRow = row;
  await search("replaceState");
  if (isNew && openRow === row) await open(row);
}

/** Search for what is in the form. `isQuiet` leaves what is said until there is an answer. */
async function search(step = "pushState", isQuiet = false) {
  clearTimeout(timer);
  if (asked) asked.abort();
  const mine = (asked = new AbortController());
  const given = query();
  keep(step);
  if (!isQuiet) say("Reading the log …");
  const filters = new URLSearchParams(given);
  filters.delete("order");
  for (const button of document.querySelectorAll("button[data-view]")) button.setAttribute("aria-pressed", button.dataset.view === view);
  byId("viewed").hidden = view === "records";
  form.dataset.view = view;
  byId("group").hidden = true;
  try {
    if (view !== "records") {
      byId("records").hidden = byId("summary").hidden = true;
      const [said, elements] = await show(view, new URLSearchParams([...filters, ...[...extra].filter(([name]) => OF_VIEWS[name] === view)]), narrow, mine.signal);
      byId("view").replaceChildren(...elements);
      return say(said);
    }
    const page = await json(`/v1/log?${given}`, { signal: mine.signal });
    showRows(page);
    if (!isQuiet) say("Counting …");
    const found = await json(`/v1/log/summary?${filters}`, { signal: mine.signal });
    showSummary(found);
    say(...told(found));
  } catch (error) {
    if (error.name === "AbortError") return;
    byId("records").hidden = byId("summary").hidden = true;
    byId("view").replaceChildren();
    say(error.message);
    return;
  }
  if (byId("refresh").checked) timer = setTimeout(() => search("replaceState", true), REFRESH_MS);
}

const say = (...said) => byId("said").replaceChildren(...said);

/** What was read, in words. */
function told(found) {
  const { files, rows, damaged_rows: lines, damaged_files: damaged } = found.read;
  const mean = found.mean_reward === null ? "" : `, mean reward ${number(found.mean_reward)}`;
  const some = found.records ? `${count(found.records)} of ${count(rows)} records in ${files} ${files === 1 ? "file" : "files"}${mean}.`
    : rows ? `None of ${count(rows)} records fits. Take a condition away, or widen the time.`
      : files ? "There are no records in these files." : "There are no records here. They appear when the service has judged something.";
  return [some, lines ? ` ${count(lines)} ${lines === 1 ? "line is no whole record, and was" : "lines are no whole records, and were"} left out.` : "", ...damaged.map((each) => make("span", { class: "damaged" }, ` Damaged: ${each}`))];
}

/** Search for these values, too. */
function narrow(values) {
  const given = new URLSearchParams(address());
  for (const [name, value] of Object.entries(values)) given.set(name, value ?? "");
  given.delete("record");
  fill(given);
  byId("opened").hidden = true;
  openRow = null;
  search();
  byId("log-title").scrollIntoView();
}

function showSummary(found) {
  const chosen = (name, values) => (value) => narrow({ [name]: value, ...values });
  const charts = found.records ? [
    bars("Status", found.by_status, chosen("status")),
    bars("Reason", found.by_reason, chosen("reason")),
    bars("Verifier or recipe", found.by_judge, chosen("verifier")),
    bars("Data source", found.by_data_source, chosen("data_source")),
    found.by_run.length > 1 ? bars("Run", found.by_run, chosen("run")) : null,
    histogram(found.rewards, (low, high) => narrow({ min_reward: low, max_reward: high })),
    overTime(found.over_time, (begins, ends) => narrow({ since: begins, until: ends })),
    failures(found.failures),
  ] : [];
  byId("summary").replaceChildren(...charts.filter(Boolean));
  byId("summary").hidden = !found.records;
  byId("runs").replaceChildren(...found.by_run.filter((each) => each.name).map((each) => make("option", { value: each.name })));
}

function failures(groups) {
  if (!groups.length) return null;
  const rows = groups.map((each) => make("tr", {}, make("td", {}, count(each.count)), make("td", {}, each.judge || "-"), make("td", { class: each.status }, each.status),
    make("td", {}, make("button", { type: "button", class: "link", onclick: () => narrow({ verifier: each.judge, status: each.status, reason: each.reason, text: each.message }) }, words(each.reason))),
    make("td", { dir: "auto" }, each.message), make("td", {}, make("button", { type: "button", class: "link", onclick: () => open(each.example) }, "example"))));
  return make("div", { class: "chart whole" }, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "What was not judged" },
    make("table", {}, make("caption", {}, "Not judged"), make("thead", {}, make("tr", {}, ["records", "judge", "status", "reason", "message"].map((head) => make("th", { scope: "col" }, head)), make("td", {}))), make("tbody", {}, rows))));
}

function showRows(page) {
  following = page.next;
  order = page.rows.map((row) => row.row);
  const heads = ["time (UTC)", "judge", "status", "reward", "reason", "answer"];
  const body = make("tbody", {}, page.rows.map(rowOf));
  byId("rows").replaceChildren(make("table", { class: "records", "aria-label": "Records" }, make("thead", {}, make("tr", {}, heads.map(heading))), body));
  byId("records").hidden = !page.rows.length;
  byId("more").hidden = !following;
}

function heading(head) {
  const by = ORDERS[head];
  if (!by) return make("th", { scope: "col" }, head);
  const at = by.indexOf(form.elements.order.value);
  const turn = async () => {
    form.elements.order.value = by[at === 0 ? 1 : 0];
    await search();
    [...byId("rows").querySelectorAll("th button")].find((button) => button.textContent === head)?.focus();
  };
  return make("th", { scope: "col", "aria-sort": ["descending", "ascending"][at] }, make("button", { type: "button", class: "link", onclick: turn }, head));
}

function rowOf(row) {
  const judge = row.recipe && row.verifier ? `${row.recipe} (${row.verifier})` : row.recipe || row.verifier || "";
  const answer = row.message ?? row.extracted ?? row.response_end ?? (row.redacted ? "(only hashes are kept)" : "");
  const time = row.time ? row.time.slice(0, 19).replace("T", " ") : `id ${row.id}`;
  const kind = row.status === "ok" && row.score < 1 ? "zero" : row.status;
  const from = [row.data_source, row.run_id, row.tenant].filter(Boolean).join(" · ");
  return make("tr", {},
    make("td", {}, make("button", { type: "button", class: "link", "aria-label": `Open the record of ${time}`, onclick: () => open(row.row) }, time)),
    make("td", { class: "short" }, judge, from ? make("small", { class: "quiet" }, from) : null), make("td", { class: `short ${kind}` }, row.status), make("td", { class: "short" }, number(row.reward)),
    make("td", { class: "short" }, words(row.reason)), make("td", { dir: "auto" }, make("code", {}, cut(answer))));
}

/** The end of a long answer, because it holds the result. */
const cut = (text) => { const letters = Array.from(text); return letters.length > CELL_CHARS ? `… ${letters.slice(-CELL_CHARS).join("")}` : text; };

async function more(isFocused = true) {
  const given = query();
  given.set("cursor", following);
  try {
    const page = await json(`/v1/log?${given}`);
    following = page.next;
    const rows = page.rows.map(rowOf);
    byId("rows").querySelector("tbody").append(...rows);
    order.push(...page.rows.map((row) => row.row));
    byId("more").hidden = !following;
    if (isFocused) rows[0]?.querySelector("button").focus();
  } catch (error) {
    say(error.message);
  }
}

/** Open a record in place. */
async function open(row) {
  const box = byId("opened");
  openRow = row;
  keep();
  box.hidden = false;
  box.replaceChildren(make("p", { class: "quiet" }, "Reading …"));
  let parts;
  try {
    parts = opened(await json(`/v1/log/record?${new URLSearchParams({ row })}`, {}, exact));
  } catch (error) {
    parts = [make("p", { class: "failed" }, error.message), make("button", { type: "button", onclick: close }, "Close")];
  }
  if (openRow !== row) return;
  box.replaceChildren(...parts);
  highlight(box, form.elements.text.value.trim());
  box.focus();
  box.scrollIntoView({ block: "nearest" });
}

/** Open the record that many rows behind the open one; without an open one the first. */
async function go(by) {
  const at = openRow === null || byId("opened").hidden ? 0 : order.indexOf(openRow) + by;
  if (at >= order.length && following) await more(false);
  if (at >= 0 && at < order.length) await open(order[at]);
}

/** The ways to the records beside this one, and where it stands among them. */
function beside(row) {
  const at = order.indexOf(row);
  if (at < 0 || view !== "records") return [];
  return [
    make("button", { type: "button", disabled: at === 0, onclick: () => go(-1) }, "Previous"),
    make("span", { class: "quiet" }, `${at + 1} of ${count(order.length)}${following ? "+" : ""}`),
    make("button", { type: "button", disabled: at + 1 === order.length && !following, onclick: () => go(1) }, "Next"),
  ];
}

function opened(record) {
  const isRedacted = record.response_sha256 !== null;
  const item = itemOf(record);
  const lasting = ["time", "id", "data_source", "run_id", "tenant", "tag", "request_id", "metadata"].filter((name) => record[name] !== null)
    .map((name) => make("tr", {}, make("th", { scope: "row" }, words(name)), make("td", { dir: "auto" }, plain(record[name]))));
  return [
    make("div", { class: "row" }, make("h3", {}, `Record ${record.id === null ? "" : plain(record.id)}`), make("div", { class: "beside" }, beside(record.row), make("button", { type: "button", onclick: close }, "Close"))),
    ...links(record, item, isRedacted),
    record.prompt_key && record.prompt !== null ? make("p", {}, make("button", { type: "button", class: "link", onclick: () => narrow({ view: "groups", prompt: record.prompt_key, run: record.run_id ?? "" }) }, "Other responses to this prompt")) : null,
    ...explained(record, item),
    conversation(record),
    record.reference === null ? null : folded("Reference", record.reference, true),
    make("details", {}, make("summary", {}, "Texts as they are"), ["prompt", "response", "reference"].map((name) => text(name, record)).filter(Boolean)),
    make("details", { class: "rare" }, make("summary", {}, "Ids, time and metadata"), make("table", {}, make("tbody", {}, lasting))),
    isRedacted || record.response === null ? null : correction(record),
  ].filter(Boolean);
}

/** The verdict as the playground shows it. What was cut when it was logged, or is of no known shape, is shown as it is. */
function explained(record, item) {
  const result = Object.fromEntries(RESULT.map((name) => [name, record[name]]));
  if (item.response === undefined && result.detail) result.detail = { ...result.detail, span: undefined };
  try {
    return verdict({ ...item, response: item.response ?? "" }, result);
  } catch {
    return [make("pre", { dir: "auto", tabindex: 0, "aria-label": "Result as JSON" }, JSON.stringify(result, null, 2))];
  }
}

/** The ways on from a record, or why there are none. */
function links(record, item, isRedacted) {
  const quiet = (said) => make("p", { class: "quiet" }, said);
  if (isRedacted) return [quiet("The log holds only hashes of the texts (audit_redact), so that the case cannot be opened.")];
  if (record.response === null) return [quiet("This file holds verdicts only, without the responses.")];
  const isCut = record.response_chars !== null && Array.from(record.response).length < record.response_chars && !Array.isArray(record.response_messages);
  const said = isCut ? [quiet(`The log cut the response, which had ${count(record.response_chars)} characters (audit_max_text_chars).`)] : [];
  return hasPlayground && (item.verifier || item.recipe) ? [make("p", {}, make("a", { href: `/#${packed(item)}` }, "Open in the playground")), ...said] : said;
}

/** The record as an item that can be judged again. */
function itemOf(record) {
  const item = record.recipe ? { recipe: record.recipe } : record.verifier ? { verifier: record.verifier } : {};
  if (record.response !== null) item.response = Array.isArray(record.response_messages) ? JSON.stringify(record.response_messages) : record.response;
  if (record.reference !== null) item.reference = structured(record);
  if (record.prompt !== null) item.prompt = record.prompt;
  if (record.params !== null && typeof record.params === "object") item.params = record.params;
  return item;
}

/** The log holds a reference that is not a text as JSON. Records of older releases do not say which it was. */
function structured({ reference, reference_is_json: isJson }) {
  if (!(isJson ?? /^[[{]/.test(reference))) return reference;
  try { return exact(reference); } catch { return reference; }
}

function text(name, record) {
  const length = record[`${name}_chars`];
  const title = `${name[0].toUpperCase()}${name.slice(1)}${length === null ? "" : `, ${count(length)} characters`}`;
  if (record[name] !== null) return folded(title, record[name], true);
  return record[`${name}_sha256`] === null ? null : make("p", {}, `${title}, SHA-256 `, make("code", {}, record[`${name}_sha256`]));
}

function close() {
  byId("opened").hidden = true;
  openRow = null;
  keep();
  byId("rows").querySelector("button")?.focus();
}

async function download(format) {
  const given = query();
  given.delete("order");
  given.set("format", format);
  say("Exporting …");
  try {
    const reply = await call(`/v1/log/export?${given}`);
    if (!reply.ok) return say(await problem(reply));
    saveAs(await reply.blob(), `log.${format}`);
    return say("Exported.");
  } catch (error) {
    return say(`The export broke off: ${error.message}`);
  }
}

form.addEventListener("submit", (event) => { event.preventDefault(); search(); });
for (const field of form.elements) if (field.tagName === "SELECT") field.addEventListener("change", () => search());
byId("clear").addEventListener("click", () => { fill(new URLSearchParams()); search(); });
byId("refresh").addEventListener("change", () => search("replaceState", true));
byId("more").addEventListener("click", () => more());
for (const button of document.querySelectorAll("button[data-view]")) button.addEventListener("click", () => narrow({ view: button.dataset.view }));
for (const button of document.querySelectorAll("[data-export]")) button.addEventListener("click", () => download(button.dataset.export));
addEventListener("hashchange", goOn);
addEventListener("keydown", (event) => {
  if (event.key === "Escape") return byId("opened").hidden ? byId("group").hidden || closeGroup() : close();
  const isWriting = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
  if (isWriting || event.ctrlKey || event.metaKey || event.altKey || view !== "records") return undefined;
  return event.key === "j" ? go(1) : event.key === "k" ? go(-1) : undefined;
});
whenKeyIsGiven(() => search());
goOn();
