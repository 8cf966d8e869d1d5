/** A whole conversation: who says what, what is thought, which tools are called and what they answer. It may be written as
 * OpenAI's chat or Responses, or as Anthropic's blocks, as the service judges them. */
import { make } from "./dom.js";
import { exact } from "./exact.js";
import { rendered } from "./rendered.js";
import { shown } from "./texts.js";

const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
const count = (value) => value.toLocaleString("en");
const isObject = (value) => value !== null && typeof value === "object";
/** Fields in which servers give what a model thought. */
const THOUGHTS = ["reasoning_content", "reasoning", "thinking"];
const THINKING = /^\s*<think(?:ing)?>([\s\S]*?)(?:<\/think(?:ing)?>|$)/;
/** Who says what has no role. */
const ROLES = { reasoning: "assistant", function_call: "assistant", function_call_output: "tool" };
const ASKED = ["user", "prompt", "system", "developer"];

/** A conversation of more steps has an outline. */
const FEW_STEPS = 6;
const HEAD_CHARS = 100;

/** The steps of a record: of its prompt, and of its response. */
export function conversation(record) {
  const steps = [...prompt(record, "prompt"), ...response(record, "response")];
  if (!steps.length) return null;
  return make("div", { class: "conversation", role: "group", "aria-label": "Conversation" }, steps.length > FEW_STEPS ? outline(steps) : null, steps);
}

/** The ways to the steps of a conversation. */
function outline(steps) {
  const go = (to) => { to.focus({ preventScroll: true }); to.scrollIntoView(); };
  const entries = steps.map((to) => {
    to.tabIndex = -1;
    const [name, ...parts] = [...to.children].map((part) => part.textContent.slice(0, HEAD_CHARS).trim());
    return make("li", {}, make("button", { type: "button", class: "link", onclick: () => go(to) }, `${name}: ${parts.filter(Boolean).join(" ").slice(0, HEAD_CHARS)}`));
  });
  return make("details", { class: "outline" }, make("summary", {}, `Outline of ${count(steps.length)} steps`), make("ol", {}, entries));
}

/** The prompt or the response of a record alone. `role` is whose a text is. */
export const prompt = (record, role = "") => steps(record.prompt_messages, record.prompt, role);
export const response = (record, role = "") => steps(record.response_messages, record.response, role);

function steps(messages, text, role) {
  if (Array.isArray(messages)) return messages.filter(isObject).map(step);
  return text === null || text === undefined ? [] : [step({ role, content: text })];
}

function step(message) {
  const role = message.role ?? (Object.hasOwn(ROLES, message.type) ? ROLES[message.type] : message.type);
  const name = [role, message.role === undefined ? "" : message.name].filter((each) => typeof each === "string" && each).join(" ");
  const parts = message.role === undefined ? block(message, role) : said(message);
  return make("div", { class: `step ${ASKED.includes(role) ? "asked" : ""}` }, name ? make("p", { class: "who" }, name) : null, parts.length ? parts : make("p", { class: "quiet" }, "(empty)"));
}

function said(message) {
  const thoughts = THOUGHTS.map((name) => message[name]).filter((each) => typeof each === "string" && each);
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls : isObject(message.function_call) ? [message.function_call] : [];
  return [...thoughts.map(thought), ...blocks(message.content, message.role), ...calls.filter(isObject).map(call)];
}

const blocks = (given, role) => (given === null || given === undefined || given === "" ? [] : [given].flat().flatMap((part) => block(part, role)));
const raw = (value) => make("pre", { class: "whole", dir: "auto" }, shown(plain(value)));

/** The elements of a block of content, or of an item without a role. */
function block(part, role) {
  if (typeof part === "string") return text(part, role);
  if (isObject(part) && Object.hasOwn(BLOCKS, part.type)) return BLOCKS[part.type](part, role);
  return isObject(part) && typeof part.text === "string" ? text(part.text, role) : [raw(part)];
}

const BLOCKS = {
  thinking: (part) => (typeof part.thinking === "string" ? [thought(part.thinking)] : [raw(part)]),
  reasoning: ({ summary, content }) => [summary, content].flat().filter((each) => isObject(each) && typeof each.text === "string").map((each) => thought(each.text)),
  tool_use: (part) => [call(part)],
  function_call: (part) => [call(part)],
  tool_result: ({ content }) => blocks(content, "tool"),
  function_call_output: ({ output }) => blocks(output, "tool"),
};

/** What a tool answers stays as it is written: it is data, and no model's markdown. */
function text(given, role) {
  if (role === "tool") return [raw(given)];
  const thinking = THINKING.exec(given);
  return thinking ? [thought(thinking[1]), rendered(given.slice(thinking[0].length))] : [rendered(given)];
}

const thought = (given) => make("details", {}, make("summary", {}, `Thinking, ${count(given.length)} characters`), rendered(given));

function call(given) {
  const named = isObject(given.function) ? given.function : given;
  return make("div", { class: "call" }, make("p", {}, "calls ", make("code", {}, plain(named.name ?? "(no name)"))), raw(indented(named.arguments ?? named.args ?? named.input ?? {})));
}

/** Arguments as JSON on lines of their own, where they are JSON. */
function indented(given) {
  if (typeof given !== "string") return given;
  try { return exact(given); } catch { return given; }
}
