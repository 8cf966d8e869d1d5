/** An element with its attributes and children. Texts become text nodes, so that nothing in them is markup. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Save a file as a browser saves downloads. */
export function saveAs(content, name) {
  const link = make("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/** A table that scrolls by itself. Cells are texts or elements; what is a cell already stays as it is. */
export function table(label, heads, rows, attributes = {}) {
  const cells = (tag, given, of) => of.map((each) => (each instanceof HTMLTableCellElement ? each : make(tag, given, each)));
  return make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label }, make("table", attributes, make("thead", {}, make("tr", {}, cells("th", { scope: "col" }, heads))),
    make("tbody", {}, rows.map((row) => make("tr", {}, cells("td", {}, row))))));
}
