/** Calls of the service, with the reader's key. The key is kept until the tab is closed. */
import { byId } from "./dom.js";

export async function call(path, options = {}) {
  const key = sessionStorage.getItem("key");
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const reply = await fetch(path, { ...options, headers });
  if (reply.status === 401 || reply.status === 403) byId("with-key").hidden = false;
  return reply;
}

/** The JSON of an answer. It raises with the service's own words where the answer is a refusal. */
export async function json(path, options = {}, read = JSON.parse) {
  const reply = await call(path, options);
  if (!reply.ok) throw new Error(await problem(reply));
  return read(await reply.text());
}

/** What a refusal says. */
export async function problem(reply) {
  if (reply.status === 401) return "Give an API key above.";
  try {
    return problemIn(await reply.json());
  } catch {
    return `${new URL(reply.url).pathname}: ${reply.status}`;
  }
}

/** The words of problem details (RFC 9457). */
export const problemIn = (said) =>
  [said.title, said.detail, ...(said.errors || []).map((each) => `${each.loc.join(".")}: ${each.msg}`)].filter(Boolean).join(". ");

export function whenKeyIsGiven(then) {
  byId("with-key").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("key", byId("key").value);
    then();
  });
}
