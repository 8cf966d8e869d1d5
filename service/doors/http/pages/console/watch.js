/** The page Watch: where a policy seems to game its reward, and what is watched. The address holds what is chosen. */
import { Unreachable, json, whenKeyIsGiven } from "./call.js";
import { byId, make, table } from "./dom.js";
import { folded } from "./texts.js";

const POLL_MS = 5000;
/** An answer that takes longer counts as none. */
const PATIENCE_MS = 30000;
const PAGE = 20;
/** A longer text is without its middle: the service keeps no more of it. */
const WHOLE_CHARS = 600;
const form = byId("filters");
const hasLog = Boolean(document.querySelector('nav a[href="/console/log"]'));
const words = (name) => name.replaceAll("_", " ");
const count = (value) => value.toLocaleString("en");
const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const named = (run) => (run ? make("bdi", {}, run) : "requests without a run");
/** By id, so that the answers of several replicas come together. */
const alarms = new Map();
const cards = new Map();
let last = null;
let watched = null;
let most = PAGE;
let timer = 0;
let asked = 0;

async function poll() {
  clearTimeout(timer);
  if (document.hidden) return;
  const mine = ++asked;
  try {
    const report = await json(`/v1/watch/alarms${last === null ? "" : `?after=${last}`}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (mine !== asked) return;
    take(report);
  } catch (error) {
    if (mine !== asked) return;
    say(make("span", { class: "failed" }, error instanceof Unreachable ? `${error.message} The page asks again.` : error.message));
  }
  timer = setTimeout(poll, POLL_MS);
}

function take(report) {
  for (const alarm of report.alarms) alarms.set(alarm.id, alarm);
  if (report.alarms.length) last = report.alarms.at(-1).id;
  const isNew = JSON.stringify(report.watched) !== JSON.stringify(watched);
  watched = report.watched;
  if (isNew) byId("watched").replaceChildren(...whatIsWatched());
  offer();
  show();
}

const say = (...said) => {
  if (byId("said").textContent !== said.map((each) => each.textContent ?? each).join("")) byId("said").replaceChildren(...said);
};

/** What is chosen. In the address and the form "-" stands for requests that name no run. */
const inAddress = () => new URLSearchParams(location.hash.slice(1));

function offer() {
  const runs = [...alarms.values()].map((alarm) => alarm.run).concat(watched.runs.map((each) => each.run));
  options("run", runs.map((run) => [run || "-", run || "(none)"]));
  options("detector", Object.keys(watched.detectors).map((name) => [name, words(name)]));
}

/** The choices of a field. What the address names is one of them, even if no alarm has it. */
function options(name, offered) {
  const chosen = inAddress().get(name) || "";
  const all = new Map([["", "any"], ...offered, ...(chosen && !offered.some(([value]) => value === chosen) ? [[chosen, chosen]] : [])]);
  const field = form.elements[name];
  if (JSON.stringify([...field.options].map((each) => each.value)) !== JSON.stringify([...all.keys()]))
    field.replaceChildren(...[...all].map(([value, text]) => make("option", { value }, text)));
  field.value = chosen;
}

function show() {
  const { run, detector, alarm } = Object.fromEntries(inAddress());
  const chosen = [...alarms.values()].reverse().filter((each) => (!run || (each.run || "-") === run) && (!detector || each.detector === detector) && (!alarm || each.id === alarm));
  const shown = chosen.slice(0, most).map(card);
  const box = byId("alarms");
  for (const old of [...box.children]) if (!shown.includes(old)) old.remove();
  shown.forEach((element, at) => { if (box.children[at] !== element) box.insertBefore(element, box.children[at] || null); });
  byId("more").hidden = chosen.length <= most;
  say(...summary(chosen.length, alarm));
}

function summary(chosen, alarm) {
  const all = alarms.size;
  if (alarm) return [chosen ? "One alarm, which the address names. " : "The alarm that the address names is not kept here: it was raised by another replica, or has gone. ", make("a", { href: "#" }, `Show all ${count(all)}`)];
  if (chosen) return [`${chosen === all ? "" : `${count(chosen)} of `}${counted(all, "alarm")}, the newest first.`];
  if (all) return [`None of ${counted(all, "alarm")} is of this run and detector.`];
  return [isOff() ? "There are no alarms, because the watch is off." : "There are no alarms. What is watched is below."];
}

const isOff = () => !watched.all_rewards && !watched.recipes.length;

function card(alarm) {
  if (!cards.has(alarm.id)) cards.set(alarm.id, newCard(alarm, !cards.size));
  return cards.get(alarm.id);
}

function newCard(alarm, isFirst) {
  const title = `alarm-${alarm.id}`;
  const rows = [["Since", moment(alarm.since)], ["Raised", moment(alarm.raised)], ["Alarm", make("a", { href: `#alarm=${alarm.id}`, "aria-label": `Only alarm ${alarm.id}` }, alarm.id)]];
  return make("article", { class: "chart alarm", "aria-labelledby": title },
    make("h3", { id: title }, make("span", { class: "badge failed" }, words(alarm.detector)), " ", named(alarm.run), ", judged by ", make("bdi", {}, alarm.judge)),
    make("p", {}, sentence(alarm.about), alarm.detail ? make("span", { class: "quiet" }, " ", make("bdi", {}, sentence(alarm.detail))) : null),
    make("div", {}, make("table", {}, make("tbody", {}, rows.map(([label, value]) => make("tr", {}, make("th", { scope: "row" }, label), make("td", {}, value))))), shares(alarm)),
    make("div", { class: "answers" }, answers(alarm, isFirst)));
}

const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

function moment({ step, item, time }) {
  const when = time ? make("div", { class: "quiet" }, `${time.slice(0, 19).replace("T", " ")} UTC`) : null;
  return [`${step === null ? "" : `step ${count(step)}, `}item ${count(item)}`, when];
}

function shares(alarm) {
  const known = [["before", alarm.share_before, ""], ["now", alarm.share_now, " now"]].filter(([, share]) => share !== null);
  if (!known.length) return null;
  const rows = known.map(([label, share, kind]) => {
    const bar = make("span", { class: `bar${kind}` });
    bar.style.width = `${100 * share}%`;
    return make("tr", {}, make("th", { scope: "row" }, `Share ${label}`), make("td", {}, bar), make("td", { class: "number" }, percent(share)));
  });
  return make("table", { class: "shares", "aria-label": "Share of the samples" }, make("tbody", {}, rows));
}

function answers(alarm, isFirst) {
  if (!alarm.responses.length) return [make("p", { class: "quiet" }, "This detector reads groups of responses, and keeps none.")];
  return alarm.responses.map((each, at) => make("details", { open: isFirst && at === 0 },
    make("summary", {}, `Response ${at + 1} of ${alarm.responses.length}`, make("span", { class: "quiet aside" }, `, score ${Number(each.score.toFixed(4))}${each.step === null ? "" : `, step ${count(each.step)}`}`)),
    origin(alarm, each),
    each.response || each.prompt ? ["response", "prompt", "reference"].filter((name) => each[name]).map((name) => folded(titled(name, each[name]), each[name], name === "response"))
      : make("p", { class: "quiet" }, "Its texts are empty, or are not kept (audit_redact).")));
}

const titled = (name, text) => `${name[0].toUpperCase()}${name.slice(1)}${text.length > WHOLE_CHARS ? ", without its middle" : ""}`;

/** Which item it is. A planted response is in no log. */
function origin(alarm, { id }) {
  if (id === "") return null;
  if (alarm.detector === "impostor") return make("p", { class: "quiet" }, "Planted by the watch, into a copy of the item ", make("bdi", {}, String(id)), ".");
  const link = make("a", { href: `/console/log#${new URLSearchParams({ ...(alarm.run ? { run: alarm.run } : {}), text: id })}` }, "Find it in the log");
  return make("p", {}, "Item ", make("bdi", {}, String(id)), ...(hasLog ? [". ", link] : []));
}

function whatIsWatched() {
  const code = (text) => make("code", {}, text);
  if (isOff()) return [make("p", {}, "Nothing: the watch is off. Set ", code("REWARDLINE_WATCH=true"), " to watch all rewards, or write ", code("watch: {}"), " into a recipe to watch its rewards alone, and start the service again.")];
  const which = watched.all_rewards ? "All rewards (the setting watch)." : ["The rewards of ", watched.recipes.length === 1 ? "the recipe " : "the recipes ", ...watched.recipes.flatMap((name, at) => [at ? ", " : "", code(name)]), "."];
  return [make("p", {}, which, " Each replica watches what it judges, since it started."), runs(), detectors()];
}

function runs() {
  if (!watched.runs.length) return make("p", {}, "Nothing of it has been judged yet. Send run_id with each batch, and step in the metadata of items.");
  const all = Object.keys(watched.detectors).length;
  const ready = (each) => (each.ready.length ? `${each.ready.length} of ${all}` : "none yet: it is still beginning");
  const shift = ([name, since]) => `${words(name)} since ${since.step === null ? `item ${count(since.item)}` : `step ${count(since.step)}`}`;
  return table("Runs, the latest first", ["run", "judged by", "items", "step", "detectors that know how it began", "changed in all responses, paid or not"], watched.runs.map((each) =>
    [named(each.run), make("bdi", {}, each.judge), count(each.items), each.step === null ? "" : count(each.step), make("span", { title: each.ready.map(words).join(", ") }, ready(each)), Object.entries(each.shifts).map(shift).join("; ")]));
}

const detectors = () => make("details", {}, make("summary", {}, "What it looks for"), table("Detectors", ["detector", "alarms when"], Object.entries(watched.detectors).map(([name, about]) => [words(name), about])));

function choose() {
  const given = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  most = PAGE;
  if (location.hash.slice(1) !== String(given)) location.hash = String(given);
}

form.addEventListener("submit", (event) => event.preventDefault());
for (const field of form.elements) field.addEventListener("change", choose);
byId("more").addEventListener("click", () => {
  const first = byId("alarms").children.length;
  most += PAGE;
  show();
  byId("alarms").children[first].querySelector("a").focus();
});
addEventListener("hashchange", () => { if (watched) { offer(); show(); } });
document.addEventListener("visibilitychange", poll);
whenKeyIsGiven(() => { alarms.clear(); last = null; poll(); });
poll();
