/** The case on the page in the forms in which people take it along. */
import { exact, isKept } from "./exact.js";

const shell = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

/** Python's form of a JSON value. */
function python(value) {
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (Array.isArray(value)) return "[" + value.map(python).join(", ") + "]";
  if (typeof value === "object" && !isKept(value))
    return "{" + Object.entries(value).map(([name, each]) => JSON.stringify(name) + ": " + python(each)).join(", ") + "}";
  return JSON.stringify(value);
}

export const forms = {
  curl: (item) => `curl -s ${location.origin}/v1/score -H 'Content-Type: application/json' -d ${shell(JSON.stringify({ items: [item], explain: true }))}`,
  python: (item) => `from rewardline import Client

with Client(${JSON.stringify(location.origin)}) as client:
    (result,) = client.score([${python(item)}], explain=True)
print(result.status, result.score, result.reason)`,
  trl: (item) => {
    const judge = item.recipe ? `recipe=${JSON.stringify(item.recipe)}` : JSON.stringify(item.verifier);
    const params = item.params ? `, params=${python(item.params)}` : "";
    return `from rewardline.trl import reward_func

# REWARDLINE_URL=${location.origin}; the reference is the column "solution"
trainer = GRPOTrainer(model, reward_funcs=[reward_func(${judge}${params})], args=config, train_dataset=rows)`;
  },
  verl: (item) => {
    const judge = item.recipe ? `recipe=${item.recipe}` : `verifier=${item.verifier}`;
    const params = Object.entries(item.params || {}).map(([name, value]) => ` \\\n    ${shell(`+reward.reward_kwargs.params.${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)}`);
    return `python3 -m verl.trainer.main_ppo ... reward.reward_manager.name=rewardline \\
    +reward.reward_kwargs.url=${location.origin} +reward.reward_kwargs.${judge}${params.join("")}`;
  },
  link: (item) => `${location.origin}/#${packed(item)}`,
};

/** The case as the fragment of a link. It never reaches the server's log. */
export function packed(item) {
  const bytes = new TextEncoder().encode(JSON.stringify(item));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The case of a link's fragment; null if it holds none. */
export function unpacked(fragment) {
  try {
    const text = atob(fragment.replaceAll("-", "+").replaceAll("_", "/"));
    const item = exact(new TextDecoder().decode(Uint8Array.from(text, (each) => each.charCodeAt(0))));
    return item !== null && typeof item === "object" && (typeof item.response === "string" || Array.isArray(item.response)) ? item : null;
  } catch {
    return null;
  }
}
