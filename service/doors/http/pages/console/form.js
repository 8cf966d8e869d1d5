/** A form for a verifier's parameters, made from their JSON schema. */
import { make } from "./dom.js";
import { exact } from "./exact.js";

/**
 * Fill `box` with a control for each parameter except the reference.
 * @returns a function that gives the parameters that differ from their defaults. It raises where one is not JSON.
 */
export function paramsForm(box, schema, given, onChange) {
  const controls = [];
  box.replaceChildren();
  for (const [name, declared] of Object.entries(schema.properties || {})) {
    if (name === "reference") continue;
    const shape = resolved(declared, schema);
    const control = controlFor(shape, name in given ? given[name] : declared.default);
    control.element.addEventListener("input", () => { mark(); onChange(); });
    const title = shape.description || declared.description;
    box.append(make("label", { title }, name, control.element));
    const mark = () => control.element.classList.toggle("changed", isChanged());
    const isChanged = () => {
      try { return JSON.stringify(control.read()) !== JSON.stringify(declared.default); } catch { return true; }
    };
    mark();
    controls.push({ name, control, isChanged });
  }
  return () => {
    const params = {};
    for (const { name, control, isChanged } of controls) {
      if (!isChanged()) continue;
      try { params[name] = control.read(); } catch (error) { throw new Error(`${name} is not JSON: ${error.message}`); }
    }
    return params;
  };
}

/** The schema behind a reference, or the only schema beside null. */
function resolved(schema, root) {
  if (schema.$ref) return resolved(root.$defs[schema.$ref.split("/").pop()], root);
  const others = (schema.anyOf || []).filter((each) => each.type !== "null");
  return others.length === 1 ? { ...resolved(others[0], root), nullable: true } : schema;
}

function controlFor(shape, value) {
  if (shape.enum) return select(shape.enum, value, shape.nullable);
  if (shape.type === "boolean") return select([true, false], value, shape.nullable);
  if (shape.type === "number" || shape.type === "integer") return number(shape, value);
  if (shape.type === "string" && (value === undefined || value === null || typeof value === "string")) return text(value);
  return json(value);
}

function select(options, value, nullable) {
  const all = nullable || value === undefined ? [null, ...options] : options;
  const element = make("select", {}, all.map((each) => make("option", { value: JSON.stringify(each) }, each === null ? "" : String(each))));
  element.value = JSON.stringify(value === undefined ? null : value);
  return { element, read: () => absent(JSON.parse(element.value), value) };
}

function number(shape, value) {
  const element = make("input", { type: "number", step: shape.type === "integer" ? 1 : "any", min: shape.minimum, max: shape.maximum });
  element.value = value === undefined || value === null ? "" : value;
  return { element, read: () => (element.value === "" ? absent(null, value) : Number(element.value)) };
}

function text(value) {
  const element = make("input", { type: "text", spellcheck: "false" });
  element.value = value === undefined || value === null ? "" : value;
  return { element, read: () => (element.value === "" && typeof value !== "string" ? absent(null, value) : element.value) };
}

function json(value) {
  const element = make("textarea", { rows: 1, spellcheck: "false" });
  element.value = value === undefined || value === null ? "" : JSON.stringify(value);
  return { element, read: () => (element.value.trim() === "" ? absent(null, value) : exact(element.value)) };
}

/** Null for an empty control; undefined where the parameter has no default, so that it is left out. */
const absent = (read, value) => (read === null && value === undefined ? undefined : read);
