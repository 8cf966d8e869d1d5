/** Counts as bars, each with its number in words. */
import { make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 600, HEIGHT = 120;
const count = (value) => value.toLocaleString("en");
const number = (value) => String(Number(value.toFixed(3)));
const share = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A table with a bar in each row. Its names narrow the search. */
export function bars(title, counts, onChoose) {
  const most = Math.max(...counts.map((each) => each.count));
  const rows = counts.map((each) => {
    const bar = make("span", { class: "bar" });
    bar.style.width = `${(100 * each.count) / most}%`;
    return make("tr", {}, make("th", { scope: "row", dir: "auto" }, make("button", { type: "button", class: "link", onclick: () => onChoose(each.name) }, each.name.replaceAll("_", " ") || "(none)")),
      make("td", { class: "number" }, count(each.count)), make("td", { class: "bars" }, bar),
      make("td", { class: "number" }, each.mean_reward === null ? "" : number(each.mean_reward)));
  });
  const heads = [make("th", { scope: "col" }, title), make("th", { scope: "col", class: "number" }, "records"), make("td", {}), make("th", { scope: "col", class: "number" }, "mean")];
  return make("div", { class: "chart" }, make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title }, make("table", {}, make("thead", {}, make("tr", {}, heads)), make("tbody", {}, rows))));
}

/** Rewards in bins. */
export function histogram({ low, high, counts }, onChoose) {
  const all = counts.reduce((sum, each) => sum + each, 0);
  if (!all) return null;
  const step = (high - low) / counts.length;
  const spans = counts.map((each, at) => ({ name: `${number(low + at * step)} to ${number(low + (at + 1) * step)}`, parts: { ok: each }, said: `${count(each)} (${share(each, all)})`, choose: () => onChoose(number(low + at * step), number(low + (at + 1) * step)) }));
  return drawn("Reward", spans, [number(low), number(high)], null, ["reward", "records"]);
}

/** Records over time by status, with the mean reward as a line. */
export function overTime({ width_s: width, spans }, onChoose) {
  if (!spans.length) return null;
  const shown = spans.map((each) => {
    const all = each.ok + each.invalid + each.failed;
    const mean = each.mean_reward === null ? "" : `, mean reward ${number(each.mean_reward)}`;
    const ends = new Date(Date.parse(each.begins) + width * 1000).toISOString();
    return { name: each.begins.replace("T", " ").replace("Z", ""), parts: { ok: each.ok, invalid: each.invalid, failed: each.failed }, said: `${count(all)} (${count(each.invalid)} invalid, ${count(each.failed)} failed)${mean}`, choose: () => onChoose(each.begins, ends) };
  });
  const means = spans.map((each) => each.mean_reward);
  return drawn("Over time (UTC)", shown, [shown[0].name, shown.at(-1).name], means, ["from", "records"]);
}

/** A picture, and the same as a table for those who cannot see it, or want to choose by keyboard. */
function drawn(title, spans, ends, means, heads) {
  const total = (span) => Object.values(span.parts).reduce((sum, each) => sum + each, 0);
  const most = Math.max(1, ...spans.map(total)), width = WIDTH / spans.length;
  const columns = spans.flatMap((span, at) => {
    let top = HEIGHT;
    const column = svg("g", { class: "column" }, svg("title", {}, `${span.name}: ${span.said}`), svg("rect", { x: at * width, y: 0, width, height: HEIGHT, class: "ground" }));
    for (const [kind, value] of Object.entries(span.parts)) {
      const height = value ? Math.max(1, (HEIGHT * value) / most) : 0;
      top -= height;
      column.append(svg("rect", { x: at * width + width * 0.08, y: top, width: width * 0.84, height, class: `part ${kind}` }));
    }
    column.addEventListener("click", span.choose);
    return [column];
  });
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": `${title}; the numbers are in the table below` }, ...columns);
  const known = (means || []).filter((each) => each !== null);
  if (known.length) {
    const low = Math.min(0, ...known), high = Math.max(1, ...known);
    const points = means.map((each, at) => (each === null ? null : `${(at + 0.5) * width},${HEIGHT - (HEIGHT * (each - low)) / (high - low)}`)).filter(Boolean);
    picture.append(points.length > 1 ? svg("polyline", { points: points.join(" "), class: "mean" }) : svg("circle", { cx: points[0].split(",")[0], cy: points[0].split(",")[1], r: 3, class: "mean" }));
  }
  const rows = spans.filter(total).map((span) => make("tr", {}, make("th", { scope: "row" }, make("button", { type: "button", class: "link", onclick: span.choose }, span.name)), make("td", {}, span.said)));
  const legend = means ? make("p", { class: "legend quiet" }, ["ok", "invalid", "failed"].map((kind) => make("span", { class: `key-of ${kind}` }, kind)), make("span", { class: "key-of mean" }, "mean reward, 0 to 1 upwards")) : null;
  return make("div", { class: "chart" }, make("h3", {}, title), picture, make("div", { class: "row quiet ends" }, make("span", {}, ends[0]), make("span", {}, ends[1])), legend,
    make("details", {}, make("summary", {}, "As a table"), make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": `${title}, as a table` },
      make("table", {}, make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, rows)))));
}
