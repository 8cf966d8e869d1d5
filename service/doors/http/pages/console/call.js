/** Calls of the service, with the reader's key. The key is kept until the tab is closed. */
import { byId } from "./dom.js";

/** Ask the service. It raises `Unreachable` where no answer comes. */
export async function call(path, options = {}) {
  const key = sessionStorage.getItem("key");
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  const reply = await fetch(path, { ...options, headers }).catch((error) => { throw error.name === "AbortError" ? error : new Unreachable(); });
  if (reply.status === 401 || reply.status === 403) byId("with-key").hidden = false;
  return reply;
}

export class Unreachable extends Error {
  constructor() {
    super(`The service at ${location.origin} does not answer. Check that it runs.`);
  }
}

/** The JSON of an answer. It raises with the service's own words where the answer is a refusal. */
export async function json(path, options = {}, read = JSON.parse) {
  const reply = await call(path, options);
  if (!reply.ok) throw new Error(await problem(reply));
  return read(await reply.text());
}

/** What a refusal says. */
export async function problem(reply) {
  if (reply.status === 401) return sessionStorage.getItem("key") ? "The service does not know this API key. Give another one above." : "Give an API key above.";
  try {
    return problemIn(await reply.json());
  } catch {
    return `${new URL(reply.url).pathname} answers with HTTP ${reply.status}, and not in the service's own words. Is a proxy in between?`;
  }
}

/** A message of the service as a sentence of its own. */
export const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1) : "");

/** The words of problem details (RFC 9457). */
export const problemIn = (said) =>
  [said.title, sentence(said.detail), ...(said.errors || []).map((each) => `${each.loc.join(".")}: ${each.msg}`)].filter(Boolean).join(". ");

export function whenKeyIsGiven(then) {
  byId("with-key").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem("key", byId("key").value);
    then();
  });
}
