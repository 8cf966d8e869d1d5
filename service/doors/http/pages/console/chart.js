/** Figures of the last hour as text, lines and tables. */
import { make } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 100;
/** The steps that a plot may be wide. It takes the first that holds all there is. */
const SPANS = [60, 180, 360, 720];
/** Lines with a colour of their own. The table has all. */
export const COLOURS = 8;

const rounded = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3))));

/** A figure with its unit. The units are Grafana's. */
export function said(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "percentunit") return `${rounded(100 * value)} %`;
  if (unit === "s") return value !== 0 && Math.abs(value) < 1 ? `${rounded(1000 * value)} ms` : `${rounded(value)} s`;
  if (unit === "ops" || unit === "reqps") return `${rounded(value)} /s`;
  return rounded(value);
}

export const last = (values) => (values.length ? values[values.length - 1] : null);

export function highest(values) {
  let found = null;
  for (const value of values) if (value !== null && (found === null || value > found)) found = value;
  return found;
}

export function mean(values) {
  let sum = 0;
  let count = 0;
  for (const value of values) if (value !== null) (sum += value), (count += 1);
  return count ? sum / count : null;
}

function drawn(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** A short line in the style of a line of a plot, for legends. */
export function keyLine(colour) {
  const svg = drawn("svg", { class: "key-line", viewBox: "0 0 22 10", "aria-hidden": "true" });
  svg.append(drawn("path", { class: `line-${colour}`, d: "M0 5H22" }));
  return svg;
}

/** Lines up to now. Its elements are made once; `draw` changes them. */
export class Plot {
  constructor(step_s, whenPointedAt) {
    this.step_s = step_s;
    this.span = SPANS[0];
    this.lines = [];
    this.svg = drawn("svg", { preserveAspectRatio: "none", role: "img" });
    this.cursor = drawn("path", { class: "cursor" });
    this.svg.append(this.cursor);
    this.start = make("span");
    this.top = make("span");
    this.element = make("div", { class: "plot" }, this.svg, make("div", { class: "ends" }, this.start, this.top, make("span", {}, "now")));
    this.svg.addEventListener("pointermove", (event) => {
      const box = this.svg.getBoundingClientRect();
      const x = Math.min(this.span, Math.max(1, Math.round(((event.clientX - box.left) / box.width) * this.span)));
      this.cursor.setAttribute("d", `M${x} 0V${HEIGHT}`);
      whenPointedAt(this.span - x);
    });
    this.svg.addEventListener("pointerleave", () => {
      this.cursor.removeAttribute("d");
      whenPointedAt(null);
    });
  }

  /** `lines`: the values of each line, the last of which is now. `about`: the picture in words. */
  draw(lines, unit, about) {
    let top = 0;
    let bottom = 0;
    for (const values of lines) for (const value of values) (top = Math.max(top, value)), (bottom = Math.min(bottom, value));
    const known = Math.max(0, ...lines.map((values) => values.length));
    this.span = SPANS.find((span) => span >= known) || known;
    this.svg.setAttribute("viewBox", `0 0 ${this.span} ${HEIGHT}`);
    this.start.textContent = `${Math.round((this.span * this.step_s) / 60)} min ago`;
    while (this.lines.length < lines.length) {
      const line = drawn("path", { class: `line-${this.lines.length}` });
      this.lines.push(line);
      this.svg.append(line);
    }
    const scale = (HEIGHT - 6) / (top - bottom || 1);
    this.lines.forEach((line, at) => line.setAttribute("d", at < lines.length ? path(lines[at], this.span, bottom, scale) : ""));
    this.svg.setAttribute("aria-label", about);
    this.top.textContent = bottom < 0 ? `${said(bottom, unit)} to ${said(top, unit)}` : `up to ${said(top, unit)}`;
  }
}

/** The path of values. It is broken where there is none; a lone value is a dot. */
function path(values, span, bottom, scale) {
  const parts = [];
  const first = span - values.length + 1;
  let open = false;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (value === null) {
      open = false;
      continue;
    }
    const y = (HEIGHT - 3 - (value - bottom) * scale).toFixed(1);
    if (open) parts.push(`L${first + at} ${y}`);
    else parts.push(`M${first + at} ${y}h0`);
    open = true;
  }
  return parts.join("");
}
