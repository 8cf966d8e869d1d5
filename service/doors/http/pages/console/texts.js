/** Long texts of callers, folded. */
import { make } from "./dom.js";

const FIRST_CHARS = 20000;

/** A text under its title. It is shown as text, whatever it holds. */
export function folded(title, whole, isOpen) {
  return make("details", { open: isOpen }, make("summary", {}, title), make("pre", { dir: "auto", tabindex: 0, "aria-label": title }, shown(whole)));
}

/** A long text shows its beginning, and the whole on demand. */
export function shown(whole) {
  if (whole.length <= FIRST_CHARS) return whole;
  const rest = make("button", { type: "button", onclick: () => rest.replaceWith(whole.slice(FIRST_CHARS)) }, `show ${(whole.length - FIRST_CHARS).toLocaleString("en")} more characters`);
  return [whole.slice(0, FIRST_CHARS), rest];
}
