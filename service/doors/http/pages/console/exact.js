/** JSON with whole numbers of any size: those that a browser would round stay as they are written, where it can do that. */
export const exact = (text) => JSON.parse(text, (name, value, written) => (isRounded(value, written) ? JSON.rawJSON(written.source) : value));

const isRounded = (value, written) =>
  typeof value === "number" && !Number.isSafeInteger(value) && Boolean(written?.source && JSON.rawJSON) && /^-?\d+$/.test(written.source);

/** Whether this is such a number. It is written by `JSON.stringify`. */
export const isKept = (value) => Boolean(JSON.isRawJSON && JSON.isRawJSON(value));
