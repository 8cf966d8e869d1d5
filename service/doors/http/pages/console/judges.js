/** The page Judges and boxes: how the models and the boxes behind the verifiers do, and what tenants have used. */
import { Unreachable, json, sentence, whenKeyIsGiven } from "./call.js";
import { said } from "./chart.js";
import { byId, make } from "./dom.js";
import { asked, usage } from "./usage.js";

const POLL_MS = 5000;
/** An answer that takes longer counts as none. */
const PATIENCE_MS = 30000;
const soon = () => ({ signal: AbortSignal.timeout(PATIENCE_MS) });
let timer = 0;

async function poll() {
  clearTimeout(timer);
  if (document.hidden) return;
  const models = json("/v1/judges", soon());
  await Promise.all([show("judges", () => models.then(({ evaluations: _, ...others }) => others), judges), show("evaluations", () => models.then((report) => report.evaluations || []), evaluations), show("boxes", () => json("/v1/sandbox", soon()), boxes), show("usage", () => asked(soon()), usage)]);
  clearTimeout(timer);
  timer = setTimeout(poll, POLL_MS);
}

const shown = new Map();

/** Show an answer. What says the same as before stays as it is, for those who read or select it. */
async function show(id, ask, render) {
  let parts;
  let text;
  try {
    const answer = await ask();
    text = JSON.stringify(answer);
    parts = () => render(answer);
  } catch (error) {
    text = error instanceof Unreachable ? `${error.message} The page asks again.` : error.message;
    parts = () => [make("p", { class: "failed", role: "status" }, text)];
  }
  if (shown.get(id) === text) return;
  shown.set(id, text);
  byId(id).replaceChildren(...parts());
}

const STANDING = {
  healthy: ["ok", "healthy", "gets calls"],
  paused: ["invalid", "paused", "asked to be left alone, and gets no calls until then"],
  unprobed: ["invalid", "unprobed", "is being tried for the first time"],
  ejected: ["failed", "ejected", "gets no calls"],
  trial: ["invalid", "on trial", "the next call decides"],
  disabled: ["failed", "disabled", "its key or model is wrong; it is tried again every two minutes"],
  held: ["failed", "held", "gets no items until it passes its canaries"],
};

function judges(report) {
  if (!report.configured) {
    return [make("p", {}, "There are no judge models. Name a file with endpoints in ", make("code", {}, "REWARDLINE_JUDGE_FILE"), ".")];
  }
  const { asked, cached } = report.votes;
  const rule = report.canaries;
  const canaries = rule.every_s === null
    ? "Canaries, items with a known verdict, are not asked (canaries.every_s)."
    : `Canaries are asked each ${said(rule.every_s, "s")}. Below ${said(rule.min_pass_rate, "percentunit")} an endpoint is ${rule.eject ? "held" : "reported"}.`;
  return [
    make("p", {}, `${report.waiting_calls} calls wait for an endpoint. ${asked} votes were asked for, ${cached} more came from the cache. ${canaries}`),
    make("div", { class: "cards" }, report.endpoints.map((each) => endpoint(each, rule))),
    pools(report.pools),
  ];
}

function endpoint(each, rule) {
  const [style, word, meaning] = STANDING[each.state] || ["invalid", each.state, ""];
  const why = [meaning, each.back_in_s === null ? "" : `for ${Math.ceil(each.back_in_s)} s`, each.why ? `(${each.why})` : ""];
  return card(each.name, [style, word], [
    ["State", why.filter(Boolean).join(" ")],
    ["Model", each.model],
    ["Address", each.address],
    ["Pools", each.pools.join(", ") || "none"],
    ["Under way", `${each.in_flight} calls; it bears ${each.limit} as far as is known, ${each.max_limit} at most`],
    ["Rate limits", limits(each)],
    ["Calls", `${each.calls}, ${each.answered} answered`],
    ["Failures", counted(each.failures)],
    ["Ejections", String(each.ejections)],
    ["Mean time", each.mean_latency_s === null ? "not known yet" : said(each.mean_latency_s, "s")],
    ["Tokens", `${each.prompt_tokens} of prompts, ${each.completion_tokens} of replies${each.cost === null ? "" : `, cost ${each.cost.toFixed(2)}`}`],
    ["It gives", abilities(each.can)],
    ["Canaries", each.canaries.length ? each.canaries.map((round) => canary(round, rule)) : "no round yet"],
  ]);
}

const limits = ({ rpm, tpm }) =>
  [rpm === null ? "" : `${rpm} calls`, tpm === null ? "" : `${tpm} tokens`].filter(Boolean).join(" and ").replace(/$/, rpm === null && tpm === null ? "none" : " per minute");

const counted = (counts) => Object.entries(counts).map(([name, count]) => `${name} ${count}`).join(", ") || "none";

function abilities(can) {
  const words = { schema: "JSON by a schema", logprobs: "log-probabilities", several: "several choices" };
  const known = Object.entries(words).map(([name, text]) => `${text}: ${can[name] === null ? "not known" : can[name] ? "yes" : "no"}`);
  return [...known, can.refused.length ? `refuses ${can.refused.join(", ")}` : ""].filter(Boolean).join("; ");
}

function canary(round, rule) {
  const isBad = round.passed < rule.min_pass_rate * round.answered;
  const missed = round.missed.length ? `; wrong: ${round.missed.join(", ")}` : "";
  const text = `${round.profile}: ${round.passed} of ${round.answered} right at ${new Date(round.at * 1000).toLocaleTimeString()}${missed}`;
  return make("p", { class: isBad ? "failed" : "" }, text);
}

function pools(all) {
  const rows = all.map((pool) => [
    ["Members", pool.members.join(", ")],
    ["Asked next", pool.fallback || "no other pool"],
    ["Profiles", pool.profiles.join(", ") || "none"],
    ["Calls", `${pool.calls}, ${pool.retries} repeated, ${pool.hedges} doubled, ${pool.failovers} passed to the other pool`],
    ["Failed for good", counted(pool.failures)],
  ]);
  return make("div", {}, make("h3", {}, "Pools"), make("div", { class: "cards" }, rows.map((of, at) => card(all[at].name, null, of))));
}

/** The figures of an evaluation: each with what it is called, and what it says. */
const FIGURES = {
  agreement: ["Agreement", "share of verdicts that agree with the label"],
  f1: ["F1", "of the best label"],
  kappa: ["Kappa", "agreement beyond chance"],
  self_consistency: ["Consistency", "share of rows with the same verdict each time"],
  position_bias: ["Position bias", "share of pairs whose verdict changes with their order"],
  length_bias: ["Length bias", "correlation of what is paid too much with the length"],
  injection_rate: ["Injections", "share of wrong responses that pass with an order to the judge"],
};

function evaluations(all) {
  if (!all.length) return [make("p", {}, "No profile was measured here. ", make("code", {}, "rewardline judges evaluate ROWS"), " measures them on labelled rows, and this page shows the last result of each.")];
  return [make("p", { class: "about" }, "On labelled rows, with intervals of 95 %. – means that the rows do not allow the figure."), make("div", { class: "cards" }, all.map(evaluation))];
}

function evaluation(each) {
  const figures = Object.entries(FIGURES).filter(([name]) => name !== "position_bias" || each.mode === "pairwise");
  return card(each.profile, null, [
    ["Rows", `${each.judged} of ${each.rows} judged, mode ${each.mode}${Object.keys(each.not_judged).length ? `; not judged: ${counted(each.not_judged)}` : ""}`],
    ...figures.map(([name, [label, about]]) => [label, [make("strong", {}, figure(each[name])), make("span", { class: "about" }, ` ${about}`)]]),
    ["Of a call", `${number(each.tokens, "tokens")}, ${each.seconds === null ? "time not known" : said(each.seconds, "s")}, ${each.cost === null ? "cost not known" : `cost ${each.cost.toPrecision(3)}`}`],
    ["Measured", each.at ? new Date(each.at * 1000).toLocaleString() : "not known when"],
  ]);
}

const figure = (of) => (of ? `${of.value.toFixed(3)} (${of.low.toFixed(3)} to ${of.high.toFixed(3)})` : "–");
const number = (value, unit) => (value === null ? `${unit} not known` : `${Number(value.toPrecision(3))} ${unit}`);

/** Show a report that the reader chose. It stays in the browser. */
async function showReport() {
  const [file] = byId("report").files;
  if (!file) return;
  let parts;
  try {
    parts = JSON.parse(await file.text()).map(evaluation);
  } catch {
    parts = [make("p", { class: "failed" }, `${file.name} is not a report: expected what rewardline judges evaluate --json prints.`)];
  }
  byId("reported").replaceChildren(make("div", { class: "cards" }, parts));
}

const BOXES = {
  ready: ["ok", "ready", "Programs can be run."],
  starting: ["invalid", "starting", "Programs wait until the boxes have started."],
  lost: ["failed", "lost", "Programs are refused; the service tries to make other boxes."],
  unavailable: ["failed", "unavailable", "Items that need a box are failed."],
};
const KINDS = { used: "in use", refused: "cannot be had", starting: "is being tried", "not tried": "was not needed" };

function boxes(described) {
  const [style, word, meaning] = BOXES[described.state] || ["invalid", described.state, ""];
  const { ready = 0, busy = 0 } = described.boxes;
  const cards = [
    card(described.kind || "No boxes", [style, word], [
      ["State", [meaning, sentence(described.message)].filter(Boolean).join(" ")],
      ["Isolation", described.isolation || "none"],
      ["Boxes", `${described.slots} may work at once; ${busy} do, ${ready} are ready`],
      ["Waiting", `${described.waiting_programs} programs`],
      ["Self-check", checked(described)],
      ["Not stopped", described.caveats.length ? list(described.caveats) : "nothing known"],
      ["Languages", described.languages.join(", ") || "none"],
    ]),
  ];
  if (described.kinds.length) {
    cards.push(card("Kinds, strongest first", null, described.kinds.map(({ kind, standing }) => [kind, [KINDS[standing] || standing, described.refused[kind]].filter(Boolean).join(": ")])));
  }
  return [make("div", { class: "cards" }, cards)];
}

function checked(described) {
  if (described.attacks_stopped) return `${described.attacks_stopped.length} attacks were stopped at the start: ${described.attacks_stopped.join(", ")}`;
  return described.kind === "remote" ? "done by the hosts of the boxes" : "not done";
}

const list = (texts) => make("ul", {}, texts.map((text) => make("li", {}, text)));

/** A name with a badge, and a table of what there is to say. */
function card(name, badge, rows) {
  const title = make("h3", {}, name, badge ? " " : null, badge ? make("span", { class: `badge ${badge[0]}` }, badge[1]) : null);
  const lines = rows.map(([label, value]) => make("tr", {}, make("th", { scope: "row" }, label), make("td", {}, value)));
  return make("div", { class: "tile" }, title, make("table", {}, make("tbody", {}, lines)));
}

byId("report").addEventListener("change", showReport);
document.addEventListener("visibilitychange", poll);
whenKeyIsGiven(poll);
poll();
