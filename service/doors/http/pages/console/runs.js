/** Views of the log as training sees it: groups of one prompt, steps of runs, two runs beside each other. */
import { byId, make, table } from "./dom.js";
import { json } from "./call.js";
import { exact } from "./exact.js";
import { curves } from "./curves.js";
import { prompt, response } from "./conversation.js";

const MEMBERS = 16;
const CHIPS = 32;
const ORDERS = { newest: "newest", mixed: "widest rewards", highest: "highest mean", lowest: "lowest mean" };
const number = (value) => (value === null || value === undefined ? "–" : String(Number(value.toFixed(4))));
const count = (value) => value.toLocaleString("en");
const words = (reason) => reason.replaceAll("_", " ");
const cell = (tag, attributes, ...children) => make(tag, attributes, ...children);

/** The view's elements, and what is said above them. `given`: the search; `narrow`: search for more. */
export async function show(view, given, narrow, signal) {
  return VIEWS[view](given, narrow, signal);
}

const link = (said, onclick, label) => make("button", { type: "button", class: "link", onclick, "aria-label": label }, said);

async function groups(given, narrow, signal) {
  const order = given.get("group_order") || "newest";
  const asked = new URLSearchParams(given);
  asked.delete("group_order");
  asked.set("order", order);
  const found = await json(`/v1/log/groups?${asked}`, { signal });
  const chooser = make("label", {}, "Order of groups ", make("select", { onchange: (event) => narrow({ group_order: event.target.value }) }, Object.entries(ORDERS).map(([value, said]) => make("option", { value, selected: value === order }, said))));
  const rows = found.groups.map((each) => make("tr", {},
    cell("td", { dir: "auto" }, link(each.shown.slice(0, 160) || "(no prompt is kept)", () => members(each, given), `Open the group: ${each.shown.slice(0, 80)}`)),
    cell("td", { class: "short" }, each.run || "–"), cell("td", { class: "short" }, each.step ?? "–"), cell("td", { class: "short" }, each.judge), cell("td", { class: "short" }, number(each.mean_reward)), cell("td", {}, chips(each))));
  return [
    `${count(found.count)} ${found.count === 1 ? "group" : "groups"} of responses to one prompt in one step; ${count(found.without_signal)} of them without signal (all rewards equal).`,
    [chooser, make("table", { class: "groups", "aria-label": "Groups" }, heads(["prompt", "run", "step", "judge", "mean", "rewards"]), make("tbody", {}, rows))],
  ];
}

const heads = (names) => make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, name))));

function chips(group) {
  const shown = group.rewards.slice(0, CHIPS).map((reward) => make("span", { class: `chip ${reward === null ? "none" : reward >= 0.5 ? "high" : "low"}` }, reward === null ? "not judged" : number(reward)));
  return group.count > CHIPS ? [...shown, make("span", { class: "quiet" }, ` and ${count(group.count - CHIPS)} more`)] : shown;
}

/** Open the responses of a group side by side. */
async function members({ run, step, judge, prompt }, given) {
  const asked = new URLSearchParams([...given].filter(([name]) => !["group_order", "run", "step", "prompt", "verifier"].includes(name)));
  const both = [run].flat();
  if (step !== null && step !== undefined) asked.set("step", step);
  asked.set("prompt", prompt);
  asked.set("verifier", judge);
  asked.set("limit", Math.ceil(MEMBERS / both.length));
  const box = byId("group");
  box.hidden = false;
  box.replaceChildren(make("p", { class: "quiet" }, "Reading …"));
  try {
    const records = [];
    let isMore = false;
    for (const each of both) {  // a caller has one search at a time
      asked.set("run", each);
      const found = await json(`/v1/log/records?${asked}`, {}, exact);
      records.push(...found.records);
      isMore ||= found.is_more;
    }
    box.replaceChildren(...beside(records, isMore));
  } catch (error) {
    box.replaceChildren(make("p", { class: "failed" }, error.message));
  }
  box.focus();
  box.scrollIntoView({ block: "nearest" });
}

function beside(records, isMore) {
  if (!records.length) return [make("p", {}, "The log does not have these records any more.")];
  const [first] = records;
  return [
    make("div", { class: "row" }, make("h3", {}, `${count(records.length)}${isMore ? " highest" : ""} responses`), make("button", { type: "button", onclick: closeGroup }, "Close")),
    first.prompt === null ? null : make("details", { open: first.prompt.length < 2000 }, make("summary", {}, "Prompt"), prompt(first)),
    first.reference === null ? null : make("details", {}, make("summary", {}, "Reference"), make("pre", { class: "whole", dir: "auto" }, first.reference)),
    make("div", { class: "members", tabindex: 0, role: "region", "aria-label": "Responses side by side" }, records.map(member)),
  ].filter(Boolean);
}

function member(record) {
  const kind = record.status === "ok" ? (record.score < 1 ? "zero" : "ok") : record.status;
  return make("article", {},
    make("p", {}, make("span", { class: "score" }, number(record.reward)), make("span", { class: `badge ${kind}` }, record.status), ` ${words(record.reason)} `, record.run_id ? make("small", { class: "quiet" }, `${record.run_id}${record.step === null ? "" : `, step ${record.step}`}`) : null),
    record.extracted === null ? null : make("p", {}, "Answer: ", make("code", { dir: "auto" }, record.extracted)),
    record.response === null ? make("p", { class: "quiet" }, "The log does not hold the response.") : response(record),
    make("a", { href: `#record=${encodeURIComponent(record.row)}` }, "Open the record"));
}

export function closeGroup() {
  byId("group").hidden = true;
  byId("view").querySelector("button")?.focus();
}

async function steps(given, narrow, signal) {
  const found = await json(`/v1/log/steps?${given}`, { signal });
  const without = found.without_step ? ` Records whose metadata name no step (step, global_step, training_step or rollout_id): ${count(found.without_step)}.` : "";
  if (!found.steps.length) return [`No steps.${without || " There are no records."}`, []];
  const open = (each) => narrow({ view: "groups", run: each.run, step: each.step, verifier: each.judge });
  return [`${count(found.steps.length)} points of ${count(new Set(found.steps.map((each) => each.run)).size)} runs.${found.is_more ? " There are more: choose a run." : ""}${without}`, [curves(found.steps, open)]];
}

async function compare(given, narrow, signal) {
  const form = make("form", { class: "pair", "aria-label": "Two runs" },
    make("label", {}, "Run ", make("input", { name: "a", list: "runs", autocomplete: "off", value: given.get("run") || "" })),
    make("label", {}, "Other run ", make("input", { name: "b", list: "runs", autocomplete: "off", value: given.get("other") || "" })),
    make("button", { type: "submit" }, "Compare"));
  form.addEventListener("submit", (event) => { event.preventDefault(); narrow({ run: form.elements.a.value, other: form.elements.b.value }); });
  const [run, other] = [given.get("run"), given.get("other")];
  if (run === null || !other) return ["Name two runs: their prompts are put beside each other.", [form]];
  const asked = new URLSearchParams([...given].filter(([name]) => !["run", "other"].includes(name)));
  for (const each of [run, other]) asked.append("run", each);
  const found = await json(`/v1/log/compare?${asked}`, { signal });
  const rows = found.pairs.map((each) => make("tr", {},
    cell("td", { dir: "auto" }, link(each.shown.slice(0, 160) || "(no prompt is kept)", () => members({ ...each, run: [run, other] }, asked), `Open both: ${each.shown.slice(0, 80)}`)),
    cell("td", { class: "short" }, each.judge), cell("td", { class: "short" }, `${number(each.mean)} (${each.count})`), cell("td", { class: "short" }, `${number(each.other_mean)} (${each.other_count})`),
    cell("td", { class: `short ${each.is_flip ? (each.other_mean > each.mean ? "ok" : "zero") : ""}` }, each.is_flip ? (each.other_mean > each.mean ? "gained" : "lost") : number(each.other_mean - each.mean))));
  const told = `${count(found.prompts)} prompts in both: mean reward ${number(found.mean_reward)} and ${number(found.other_mean_reward)}; ${count(found.gained)} gained, ${count(found.lost)} lost. ${count(found.only)} prompts in ${run} alone, ${count(found.other_only)} in ${other} alone.`;
  return [told, [form, make("table", { class: "groups", "aria-label": "Prompts of both runs" }, heads(["prompt", "judge", run || "(no run)", other, "change"]), make("tbody", {}, rows))]];
}

const VIEWS = { groups, steps, compare };
