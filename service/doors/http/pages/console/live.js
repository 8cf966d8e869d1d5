/** The page Live: what this replica did in the last hour, and does now. */
import { Unreachable, json, whenKeyIsGiven } from "./call.js";
import { COLOURS, Plot, highest, keyLine, last, mean, said } from "./chart.js";
import { byId, make } from "./dom.js";

const STEPS = 720;
const RETRY_MS = 5000;
/** An answer that takes longer counts as none. */
const PATIENCE_MS = 30000;
/** The drawing of a frame may take so long. What is left comes in the next. */
const FRAME_MS = 8;

/** The last hour as it is known here: for each panel its lines, by legend. */
const hour = { replica: "", until: 0, step_s: 5, panels: [], lines: new Map() };
const tiles = new Map();
let timer = 0;
let asking = false;

/** Ask for what is new, and again after a step. A hidden page does not ask. */
async function poll() {
  clearTimeout(timer);
  if (document.hidden || asking) return;
  asking = true;
  let wait = hour.step_s * 1000;
  try {
    const past = await json(hour.replica ? `/v1/series?since=${hour.until}` : "/v1/series", { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (hour.replica && past.replica !== hour.replica) take(await json("/v1/series"));
    else take(past);
    say(`Replica ${hour.replica}, a figure each ${hour.step_s} s, the last at ${time(hour.until)}. Other replicas have their own figures.`);
  } catch (error) {
    say(error instanceof Unreachable ? `${error.message} The page asks again.` : error.message, true);
    wait = RETRY_MS;
  } finally {
    asking = false;
  }
  timer = setTimeout(poll, wait);
}

const time = (seconds) => new Date(seconds * 1000).toLocaleTimeString();

function say(text, isTrouble = false) {
  const state = byId("state");
  state.className = isTrouble ? "failed" : "quiet";
  if (state.textContent !== text) state.textContent = text;
}

/** Put an answer behind what is known. An answer with panels begins anew. */
function take(past) {
  if (past.panels.length) begin(past);
  const lines = new Map();
  const missed = hour.until ? Math.min(STEPS, Math.max(0, Math.round((past.start - hour.until) / hour.step_s) - 1)) : 0;
  for (const series of past.series) {
    const of = lines.get(series.name) || lines.set(series.name, new Map()).get(series.name);
    const before = hour.lines.get(series.name)?.get(series.legend) || [];
    const values = [...before, ...(hour.until ? Array(missed).fill(null) : []), ...series.values];
    of.set(series.legend, values.slice(-STEPS));
  }
  hour.lines = lines;
  hour.until = past.until;
  for (const tile of tiles.values()) tile.isStale = true;
  drawSoon();
}

function begin(past) {
  Object.assign(hour, { replica: past.replica, until: 0, step_s: past.step_s, panels: past.panels, lines: new Map() });
  const rows = new Map();
  tiles.clear();
  seen.disconnect();
  for (const panel of past.panels) {
    const row = rows.get(panel.row) || rows.set(panel.row, []).get(panel.row);
    const tile = panel.kind === "heatmap" ? new Bars(panel) : new Lines(panel);
    tiles.set(tile.element, tile);
    seen.observe(tile.element);
    row.push(tile.element);
  }
  byId("rows").replaceChildren(
    ...[...rows].map(([title, elements], at) =>
      make("section", { "aria-labelledby": `row-${at}` }, make("h2", { id: `row-${at}` }, title), make("div", { class: at ? "tiles" : "tiles small" }, elements))
    )
  );
}

/** Tiles are drawn while they can be seen, some in each frame, so that the page never stalls. */
const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const tile = tiles.get(entry.target);
    if (tile) tile.isSeen = entry.isIntersecting;
  }
  drawSoon();
});
let isDue = false;

function drawSoon() {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(() => {
    isDue = false;
    const end = performance.now() + FRAME_MS;
    for (const tile of tiles.values()) {
      if (!tile.isSeen || !tile.isStale) continue;
      if (performance.now() > end) return drawSoon();
      tile.isStale = false;
      tile.draw(hour.lines.get(tile.panel.name) || new Map());
    }
  });
}

/** A panel with its present figure, its lines, and a table of them. */
class Lines {
  constructor(panel) {
    this.panel = panel;
    this.isSeen = false;
    this.isStale = true;
    this.order = new Map();
    this.showsAll = false;
    this.now = make("p", { class: "now" });
    this.plot = new Plot(hour.step_s, (ago) => this.point(ago));
    this.body = make("tbody");
    this.when = make("th", { scope: "col" }, "now");
    this.table = make("table", {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "line"), this.when, make("th", { scope: "col" }, "mean"), make("th", { scope: "col" }, "highest"))),
      this.body);
    this.more = make("button", { onclick: () => this.toggle() });
    this.empty = make("p", { class: "quiet" }, "Nothing in the last hour.");
    this.element = tile(panel, this.now, this.plot.element, this.table, this.more, this.empty);
  }

  draw(lines) {
    this.lines = [...lines].map(([name, values]) => ({ name: name || this.panel.name, values, top: highest(values), mean: mean(values) }));
    // Where there are many, those that were 0 all the time say nothing.
    const shown = this.lines.filter((line) => lines.size <= COLOURS || line.top || line.mean);
    this.shown = this.ordered(shown);
    const isOne = lines.size === 1 && lines.has("");
    const unit = this.panel.unit;
    this.now.hidden = !isOne;
    this.table.hidden = isOne || !shown.length;
    this.plot.element.hidden = !shown.length;
    this.empty.hidden = shown.length > 0;
    if (isOne) this.present();
    this.plot.draw(shown.slice(0, COLOURS).map((line) => line.values), unit, this.words());
    this.more.hidden = shown.length <= COLOURS;
    this.more.textContent = this.showsAll ? `Show the largest ${COLOURS}` : `Show all ${shown.length}`;
    if (!isOne) this.tabulate(null);
  }

  /** The largest lines first. The order, and with it the colours, stays as it is until there are other lines. */
  ordered(lines) {
    if (lines.length !== this.order.size || lines.some((line) => !this.order.has(line.name))) {
      lines.sort((one, other) => (other.mean ?? 0) - (one.mean ?? 0) || one.name.localeCompare(other.name));
      this.order = new Map(lines.map((line, at) => [line.name, at]));
    }
    return lines.sort((one, other) => this.order.get(one.name) - this.order.get(other.name));
  }

  present() {
    const value = last(this.shown[0].values);
    const { unit, red_above } = this.panel;
    const isBad = red_above !== null && value > red_above;
    write(this.now, `${said(value, unit)}${isBad ? `, above ${said(red_above, unit)}` : ""}`);
    this.now.classList.toggle("bad", isBad);
  }

  /** The picture in words: its largest lines. */
  words() {
    const of = this.shown.slice(0, 3).map((line) => `${line.name} now ${said(last(line.values), this.panel.unit)}, highest ${said(line.top, this.panel.unit)}`);
    return `${this.panel.name}, last hour: ${of.join("; ") || "nothing"}`;
  }

  tabulate(ago) {
    const unit = this.panel.unit;
    const rows = this.shown.slice(0, this.showsAll ? undefined : COLOURS);
    while (this.body.rows.length > rows.length) this.body.lastChild.remove();
    while (this.body.rows.length < rows.length) this.body.append(row(this.body.rows.length));
    rows.forEach((line, at) => {
      const cells = this.body.rows[at].cells;
      const texts = [line.name, said(at_(line.values, ago), unit), said(line.mean, unit), said(line.top, unit)];
      texts.forEach((text, column) => write(column ? cells[column] : cells[0].lastChild, text));
    });
  }

  /** Show the figures of an earlier step in place of the present ones. */
  point(ago) {
    if (!this.shown?.length) return;
    const when = ago === null ? "now" : time(hour.until - ago * hour.step_s);
    if (!this.now.hidden) {
      if (ago === null) this.present();
      else write(this.now, `${said(at_(this.shown[0].values, ago), this.panel.unit)} at ${when}`);
      return;
    }
    write(this.when, when);
    this.tabulate(ago);
  }

  toggle() {
    this.showsAll = !this.showsAll;
    this.draw(hour.lines.get(this.panel.name) || new Map());
  }
}

const at_ = (values, ago) => (ago === null ? last(values) : values[values.length - 1 - ago]);

function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function row(at) {
  const name = make("span");
  return make("tr", {}, make("td", {}, at < COLOURS ? keyLine(at) : null, name), make("td"), make("td"), make("td"));
}

/** A histogram over the last hour: how many there were of each size. */
class Bars {
  constructor(panel) {
    this.panel = panel;
    this.isSeen = false;
    this.isStale = true;
    this.body = make("tbody");
    this.table = make("table", {}, make("thead", {}, make("tr", {}, ...["up to", "items", "share"].map((text) => make("th", { scope: "col" }, text)))), this.body);
    this.empty = make("p", { class: "quiet" }, "Nothing in the last hour.");
    this.element = tile(panel, this.table, this.empty);
  }

  draw(lines) {
    const bounds = [...lines].map(([bound, values]) => [bound === "+Inf" ? Infinity : Number(bound), values.reduce((sum, value) => sum + value, 0)]);
    bounds.sort(([one], [other]) => one - other);
    const all = bounds.length ? bounds[bounds.length - 1][1] : 0;
    this.table.hidden = !all;
    this.empty.hidden = all > 0;
    while (this.body.rows.length < bounds.length) this.body.append(make("tr", {}, make("td"), make("td"), make("td", {}, make("span", { class: "bar" }))));
    while (this.body.rows.length > bounds.length) this.body.lastChild.remove();
    bounds.forEach(([bound, count], at) => {
      const own = count - (at ? bounds[at - 1][1] : 0);
      const cells = this.body.rows[at].cells;
      write(cells[0], bound === Infinity ? "above" : String(bound));
      write(cells[1], own.toFixed(0));
      cells[2].firstChild.style.width = `${all ? (100 * own) / all : 0}%`;
      cells[2].firstChild.title = `${said(all ? own / all : 0, "percentunit")}`;
    });
  }
}

function tile(panel, ...parts) {
  for (const part of parts) part.hidden = true; // until there is something to show
  return make("figure", { class: "tile" }, make("figcaption", {}, make("h3", {}, panel.name), make("p", { class: "about" }, panel.about.split("`").map((text, at) => (at % 2 ? make("code", {}, text) : text)))), ...parts);
}

document.addEventListener("visibilitychange", poll);
whenKeyIsGiven(poll);
poll();
