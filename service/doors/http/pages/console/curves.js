/** Lines over the steps of runs: one for each run and judge, with the same figures as a table. */
import { make, table } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 600, HEIGHT = 140, EDGE = 6;
/** Lines that have a style of their own. The table has all. */
const STYLES = 6;
/** Rows of the table before somebody asks for all. */
const ROWS = 500;
const number = (value) => (value === null ? "" : String(Number(value.toFixed(4))));

function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The mean reward by step. `open` is called with a step that somebody chose. */
export function curves(steps, open) {
  const series = Map.groupBy(steps, (each) => `${each.run || "(no run)"}, ${each.judge}`);
  const known = steps.filter((each) => each.mean_reward !== null);
  const [first, last] = [Math.min(...steps.map((each) => each.step)), Math.max(...steps.map((each) => each.step))];
  const [low, high] = [Math.min(0, ...known.map((each) => each.mean_reward)), Math.max(1, ...known.map((each) => each.mean_reward))];
  const x = (step) => EDGE + ((WIDTH - 2 * EDGE) * (step - first)) / (last - first || 1);
  const y = (reward) => HEIGHT - EDGE - ((HEIGHT - 2 * EDGE) * (reward - low)) / (high - low);
  const shown = [...series].slice(0, STYLES);
  const lines = shown.flatMap(([name, points], at) => {
    const drawn = points.filter((each) => each.mean_reward !== null);
    const dots = drawn.length <= 60 ? drawn.map((each) => svg("path", { d: `M${x(each.step)} ${y(each.mean_reward)}h0`, class: `curve dot curve-${at}` }, svg("title", {}, `${name}, step ${each.step}: ${number(each.mean_reward)}`))) : [];
    return [svg("polyline", { points: drawn.map((each) => `${x(each.step)},${y(each.mean_reward)}`).join(" "), class: `curve curve-${at}` }), ...dots];
  });
  const legend = make("p", { class: "legend quiet" }, shown.map(([name], at) => make("span", { class: "curve-key" }, svg("svg", { viewBox: "0 0 24 8", class: "curve-sample", "aria-hidden": "true" }, svg("path", { d: "M0 4H24", class: `curve curve-${at}` })), name)), series.size > STYLES ? make("span", {}, `and ${series.size - STYLES} more in the table`) : null);
  const row = (each) => [make("button", { type: "button", class: "link", onclick: () => open(each) }, `step ${each.step}`), each.run || "(no run)", each.judge, number(each.mean_reward), each.count, each.failed + each.invalid, `${each.without_signal} of ${each.groups}`, `${number(each.latency_ms)} ms`];
  const figures = (some) => table("Steps", ["step", "run", "judge", "mean reward", "records", "not judged", "groups without signal", "latency"], some.map(row));
  const beginning = figures(steps.slice(0, ROWS));
  const all = make("button", { type: "button", onclick: () => { all.remove(); beginning.replaceWith(figures(steps)); } }, `Show all ${steps.length} rows`);
  return make("div", { class: "chart" }, make("h3", {}, "Mean reward by step"),
    svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": "Mean reward by step; the numbers are in the table below" }, ...lines),
    make("div", { class: "row quiet ends" }, make("span", {}, `step ${first}`), make("span", {}, `rewards from ${number(low)} to ${number(high)}`), make("span", {}, `step ${last}`)), legend,
    beginning, steps.length > ROWS ? all : null);
}
