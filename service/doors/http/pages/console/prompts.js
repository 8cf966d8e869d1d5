/** Beside the audits: how often a policy solves the prompts of a run. The address holds the run and the band. */
import { json } from "./call.js";
import { byId, make, table } from "./dom.js";

/** Of pass rates (docs/watch.md), from what none solves to what all solve. */
const BANDS = {
  never: "no response solves it", hard: "below 35 %", medium: "35 to 70 %", easy: "from 70 %",
  always: "all responses solve it", unknown: "below four verdicts",
};
const COUNT = 20;
const number = (value) => value.toLocaleString("en");
const percent = (share) => (share === null ? "" : `${(100 * share).toFixed(0)} %`);
const named = (run) => (run ? make("bdi", {}, run) : "(no run named)");
let asked = 0;

const chosen = () => {
  const given = new URLSearchParams(location.search);
  const band = given.get("band");
  return { run: given.get("run"), band: Object.hasOwn(BANDS, band) ? band : "" };
};

/** Show the prompts of the run and band in the address, or of the latest run. */
export async function prompts() {
  const mine = ++asked;
  const { run, band } = chosen();
  try {
    const found = await report(run, band);
    if (mine !== asked) return;
    const shown = run ?? Object.keys(found.runs)[0] ?? "";
    const examples = run === null && shown ? await report(shown, band) : found;
    if (mine !== asked) return;
    byId("bands").replaceChildren(...counts(found.runs, shown, band), ...drawn(examples, shown, band));
  } catch (error) {
    if (mine === asked) byId("bands").replaceChildren(make("p", { class: "failed", role: "status" }, error.message));
  }
}

const report = (run, band) => json(`/v1/prompts?${new URLSearchParams({ count: COUNT, ...(run ? { run } : {}), ...(band ? { band } : {}) })}`);

/** Choose a run, and a band of it or all. */
function choose(run, band) {
  history.pushState(null, "", `?${new URLSearchParams({ run, ...(band ? { band } : {}) })}${location.hash}`);
  prompts().then(() => byId("drawn")?.focus());
}

function counts(runs, run, band) {
  if (!Object.keys(runs).length)
    return [make("p", {}, "No prompts are counted yet. The ", make("a", { href: "/console/watch" }, "watch"), " counts them, where it is on.")];
  const cell = (name, counted, of) => {
    const isShown = name === run && of === band;
    const label = `${number(counted)} ${of || "in all"}, ${name || "no run named"}`;
    return make("td", { class: "number" }, counted ? make("button", { type: "button", class: "link", "aria-label": label, "aria-pressed": String(isShown), onclick: () => choose(name, of) }, number(counted)) : "0");
  };
  const row = ([name, bands]) => [make("th", { scope: "row" }, named(name)), ...Object.keys(BANDS).map((each) => cell(name, bands[each] ?? 0, each)),
    cell(name, Object.values(bands).reduce((sum, each) => sum + each, 0), "")];
  const heads = [...Object.keys(BANDS), "all"].map((each) => make("th", { scope: "col", class: "number", title: BANDS[each] }, each));
  return [table("Prompts of each run, by band", ["run", ...heads], Object.entries(runs).map(row))];
}

function drawn(found, run, band) {
  const all = band ? (found.bands[band] ?? 0) : Object.values(found.bands).reduce((sum, each) => sum + each, 0);
  if (!all) return run || band ? [make("p", { id: "drawn", tabindex: -1 }, "No prompts of ", named(run), band ? ` are ${band}.` : " are counted.")] : [];
  const numbers = (...texts) => texts.map((each) => make("td", { class: "number" }, each));
  const rows = found.prompts.map((each) => [make("td", { dir: "auto" }, each.prompt || make("code", {}, each.key)), each.band, ...numbers(percent(each.pass_rate), number(each.responses), number(each.step))]);
  const heads = ["prompt", "band", ...["solved", "responses", "step"].map((each) => make("th", { scope: "col", class: "number" }, each))];
  return [
    make("div", { class: "row" }, make("h3", { id: "drawn", tabindex: -1 }, `${number(found.prompts.length)} of ${number(all)} prompts of `, named(run), band ? `: ${band}, ${BANDS[band]}` : ""),
      make("button", { type: "button", onclick: prompts }, "Draw again")),
    table("Prompts", heads, rows, { class: "drawn" }),
  ];
}
