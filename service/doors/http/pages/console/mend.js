/** Mends rows of a file of JSON lines. Only the mended lines are read as text; all others stay as they are. */
const NEWLINE = 10;

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
    const value = JSON.parse(await file.slice(from, to).text());
    for (const fix of byRow.get(row)) put(value, fix.path, fix.value);
    parts.push(file.slice(kept, from), JSON.stringify(value));
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

function put(value, path, part) {
  const last = path.length - 1;
  const holder = path.slice(0, last).reduce((held, name) => {
    if (held[name] === null || typeof held[name] !== "object") held[name] = {};
    return held[name];
  }, value);
  Object.defineProperty(holder, path[last], { value: part, writable: true, enumerable: true, configurable: true });
}
