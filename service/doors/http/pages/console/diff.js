/** The page Diff: the report of `rewardline diff` as tables. The file is read here, and sent nowhere. */
import { byId, make, table } from "./dom.js";

const words = (text) => text.replaceAll("_", " ");
const number = (value) => value.toLocaleString("en");
const listed = (counts) => Object.entries(counts).map(([name, count]) => `${number(count)} ${name}`).join(", ");
const text = (value) => make("bdi", {}, value ?? "");
const count = (value) => make("td", { class: "number" }, number(value));
const heads = (names, numbers) => [...names, ...numbers.map((name) => make("th", { scope: "col", class: "number" }, words(name)))];
const verdict = ({ status, score, reason, extracted }) => [status, score, words(reason ?? ""), extracted].filter((each) => each !== null && each !== undefined).join(" ");
const section = (title, ...parts) => make("section", { class: "chart whole" }, make("h3", {}, title), ...parts);

async function open(file) {
  byId("kinds").replaceChildren();
  if (!file) return;
  try {
    const report = JSON.parse(await file.text());
    byId("kinds").replaceChildren(...report.kinds.map(kind), ...Object.entries(report.by).map(axis));
    byId("said").replaceChildren(...summary(report));
  } catch {
    byId("said").replaceChildren(make("span", { class: "failed" }, "This file is not a report of rewardline diff. Write one: rewardline diff A B FILE --report flips.json"));
  }
}

function summary(report) {
  const sides = Object.entries(report.statuses).map(([side, counts]) => make("div", {}, text(side), `: ${listed(counts)}.`));
  return [make("strong", {}, text(report.before), " and ", text(report.after), " on ", text(report.file)), `: ${number(report.compared)} of ${number(report.rows)} rows compared, ${number(report.flips)} flips (${(100 * report.share).toFixed(3)} %).`,
    ...(report.kinds.length ? [] : [" All verdicts are the same."]), ...sides, ...Object.entries(report.skipped).map(([why, rows]) => make("div", {}, `${number(rows)} not compared: `, text(why), "."))];
}

function kind(each) {
  const examples = each.examples.map((flip) => [text(`${flip.file}:${flip.line}`), ...[verdict(flip.before), verdict(flip.after), flip.reference, flip.response].map((value) => make("code", {}, text(value)))]);
  return section(`${words(each.kind)}: ${number(each.items)}`,
    table(`Changes: ${words(each.kind)}`, heads(["verifier", "reason before", "after"], ["items"]), each.changes.map((change) => [text(change.verifier), words(change.before), words(change.after), count(change.items)])),
    table(`Examples: ${words(each.kind)}`, ["line", "before", "after", "reference", "response"], examples));
}

function axis([name, rows]) {
  const kinds = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => key !== "name" && rows.some((row) => row[key]));
  return section(`By ${name}`, table(`By ${name}`, heads([name], kinds), rows.map((row) => [text(row.name), ...kinds.map((key) => count(row[key] ?? 0))])));
}

byId("file").addEventListener("change", () => open(byId("file").files[0]));
for (const name of ["dragover", "drop"])
  document.addEventListener(name, (event) => {
    event.preventDefault();
    if (name === "drop") open(event.dataTransfer.files[0]);
  });
