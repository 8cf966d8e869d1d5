/** What tenants and runs have used, beside what they may use. */
import { call, json } from "./call.js";
import { make } from "./dom.js";

const MEASURES = { items: "items", judged: "judged anew", cpu_s: "CPU s in boxes", judge_tokens: "judge tokens", judge_cost: "judge cost" };
const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 2 });
let path = "/v1/usage?all=true";

/** The usage of all tenants; of the reader's own, with its runs, if the key may see no more. */
export async function asked(options) {
  const reply = await call(path, options);
  if (reply.status === 403) path = "/v1/usage";
  return reply.ok ? reply.json() : json(path, options);
}

export function usage(report) {
  if (!report.tenants.length) return [make("p", {}, "Nothing has been used yet.")];
  return [
    make("p", {}, report.shared ? "At all replicas." : "At this replica, since it started."),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "By tenant and run" }, make("table", {},
      make("thead", {}, make("tr", {}, ["tenant", "run", ...Object.values(MEASURES)].map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, report.tenants.flatMap((tenant) => [row(tenant, tenant.tenant, ""), ...tenant.runs.map((run) => row(run, tenant.tenant, run.run_id))])))),
  ];
}

function row(used, tenant, run) {
  return make("tr", {}, [tenant, run].map((name) => make("td", {}, make("bdi", {}, name))), Object.keys(MEASURES).map((measure) => make("td", {}, amount(used, measure))));
}

function amount(used, measure) {
  const lines = [[measure, used.total, ""], [`${measure}_per_minute`, used.minute, " this minute"]].flatMap(([name, amounts, when]) => {
    const most = used.budget[name];
    const over = used.exhausted.find((each) => each.budget === name);
    if (when && most === undefined) return [];
    const words = `${number(amounts[measure])}${most === undefined ? "" : ` of ${number(most)}`}${when}`;
    return [make("div", over ? { class: "failed" } : {}, over ? `${words}, used up${over.until ? ` until ${new Date(over.until).toLocaleTimeString()}` : ""}` : words)];
  });
  return lines;
}
