/** A whole conversation: who says what, what is thought, which tools are called and what they answer. */
import { make } from "./dom.js";
import { rendered } from "./rendered.js";

const plain = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
const count = (value) => value.toLocaleString("en");
/** Fields in which servers give what a model thought. */
const THOUGHTS = ["reasoning_content", "reasoning", "thinking"];
const THINKING = /^\s*<think(?:ing)?>([\s\S]*?)(?:<\/think(?:ing)?>|$)/;

/** The steps of a record: of its prompt, and of its response. */
export function conversation(record) {
  const steps = [...said(record.prompt_messages, record.prompt, "prompt"), ...said(record.response_messages, record.response, "response")];
  return steps.length ? make("div", { class: "conversation", role: "group", "aria-label": "Conversation" }, steps.map(step)) : null;
}

/** The prompt or the response of a record alone. */
export const prompt = (record) => said(record.prompt_messages, record.prompt, "").map(step);
export const response = (record) => said(record.response_messages, record.response, "").map(step);

function said(messages, text, role) {
  if (Array.isArray(messages)) return messages.filter((each) => each !== null && typeof each === "object");
  return text === null || text === undefined ? [] : [{ role, content: text }];
}

function step(message) {
  const parts = [...thoughts(message), ...content(message), ...calls(message)];
  const name = [message.role, message.name].filter((each) => typeof each === "string" && each).join(" ");
  return make("div", { class: `step ${["user", "prompt", "system"].includes(message.role) ? "asked" : ""}` }, name ? make("p", { class: "who" }, name) : null, parts.length ? parts : make("p", { class: "quiet" }, "(empty)"));
}

const thought = (text) => make("details", {}, make("summary", {}, `Thinking, ${count(text.length)} characters`), rendered(text));
const thoughts = (message) => THOUGHTS.map((name) => message[name]).filter((each) => typeof each === "string" && each).map(thought);

function content(message) {
  const given = message.content;
  if (given === null || given === undefined || given === "") return [];
  const parts = Array.isArray(given) ? given : [given];
  return parts.flatMap((part) => {
    const text = typeof part === "string" ? part : part && typeof part.text === "string" ? part.text : null;
    if (text === null || message.role === "tool") return [make("pre", { class: "whole", dir: "auto" }, plain(text ?? part))];
    const thinking = THINKING.exec(text);
    return thinking ? [thought(thinking[1]), rendered(text.slice(thinking[0].length))] : [rendered(text)];
  });
}

function calls(message) {
  if (!Array.isArray(message.tool_calls)) return [];
  return message.tool_calls.map((call) => {
    const named = call && typeof call.function === "object" && call.function ? call.function : call || {};
    return make("div", { class: "call" }, make("p", {}, "calls ", make("code", {}, plain(named.name ?? "(no name)"))), make("pre", { class: "whole", dir: "auto" }, indented(named.arguments ?? named.input ?? {})));
  });
}

/** Arguments as JSON on lines of their own, where they are JSON. */
function indented(given) {
  if (typeof given !== "string") return plain(given);
  try { return JSON.stringify(JSON.parse(given), null, 2); } catch { return given; }
}
