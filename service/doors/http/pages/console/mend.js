/** Mends rows of a file of JSON lines. All but the mended values stays as it is, to the letter. */
const NEWLINE = 10;
/** A text, a bracket, or a number or word, where all else is commas, colons and spaces. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]|[^\s"{}[\],:]+/g;

/**
 * The file with new values in some of its rows.
 * @param fixes A list of `{ row, path, value }`; rows count from 1.
 */
export async function mended(file, fixes) {
  const byRow = new Map();
  for (const fix of fixes) byRow.set(fix.row, [...(byRow.get(fix.row) || []), fix]);
  const parts = [];
  let kept = 0;
  for (const [row, from, to] of await places(file, byRow)) {
    const line = await file.slice(from, to).text();
    parts.push(file.slice(kept, from), byRow.get(row).reduce((text, fix) => put(text, fix.path, fix.value), line));
    kept = to;
  }
  return new Blob([...parts, file.slice(kept)], { type: "application/x-ndjson" });
}

/** The first and the last byte of each wanted line, without its end. */
async function places(file, wanted) {
  const found = [];
  let row = 1, start = 0, read = 0;
  const end = (place) => {
    if (wanted.has(row)) found.push([row, start, place]);
    row += 1;
    start = place + 1;
  };
  const reader = file.stream().getReader();
  for (let step = await reader.read(); !step.done; step = await reader.read()) {
    for (let place = step.value.indexOf(NEWLINE); place >= 0; place = step.value.indexOf(NEWLINE, place + 1)) end(read + place);
    read += step.value.length;
  }
  if (start < read) end(read);
  return found;
}

/** The text of a JSON object with a new value at a path. What is not there is added. */
function put(text, path, value) {
  const whole = found(text, path);
  if (whole) return spliced(text, whole, JSON.stringify(value));
  let depth = path.length - 1;
  while (depth && !found(text, path.slice(0, depth))) depth -= 1;
  const [start, end] = found(text, path.slice(0, depth));
  const added = path.slice(depth).reduceRight((part, name) => `{${JSON.stringify(name)}: ${part}}`, JSON.stringify(value));
  if (text[start] !== "{") return spliced(text, [start, end], added);
  const isEmpty = !text.slice(start + 1, end - 1).trim();
  return spliced(text, [end - 1, end - 1], `${isEmpty ? "" : ", "}${added.slice(1, -1)}`);
}

const spliced = (text, [start, end], part) => text.slice(0, start) + part + text.slice(end);

/** Where the value at a path begins and ends in a JSON text; of a name that stands twice the last counts, as for JSON.parse. */
function found(text, path) {
  const open = [];
  let range = null;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    const inside = open.at(-1);
    const end = index + token.length;
    if (token === "}" || token === "]") {
      open.pop();
      if (inside.isWanted) range = [inside.start, end];
      if (open.length) open.at(-1).name = null;
    } else if (inside && inside.isObject && inside.name === null) {
      inside.name = JSON.parse(token);
    } else {
      const isOnTheWay = open.length <= path.length && open.every((each, depth) => each.name === path[depth]);
      const isWanted = isOnTheWay && open.length === path.length;
      if (isOnTheWay) range = null;
      if (token === "{" || token === "[") open.push({ isObject: token === "{", name: null, start: index, isWanted });
      else {
        if (isWanted) range = [index, end];
        if (inside) inside.name = null;
      }
    }
  }
  return range;
}
