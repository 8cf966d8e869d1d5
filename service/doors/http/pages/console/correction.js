/** A person's own verdict on a record. The service keeps it as a case, which `rewardline check` judges again. */
import { make, saveAs } from "./dom.js";
import { call, problem } from "./call.js";

export function correction(record) {
  const told = make("p", { role: "status" });
  const form = make("form", { class: "correction" },
    make("label", {}, "It should be ", make("select", { name: "expected" },
      [["1", "right (score 1)"], ["0", "wrong (score 0)"], ["invalid", "invalid (a mistake of the task)"], ["other", "another score"]].map(([value, said]) => make("option", { value }, said)))),
    make("label", {}, "Score ", make("input", { name: "score", type: "number", min: 0, max: 1, step: "any" })),
    make("label", {}, "Why ", make("input", { name: "note", maxlength: 2000, autocomplete: "off" })),
    make("button", { type: "submit" }, "Keep the correction"));
  const isOther = () => form.elements.expected.value === "other";
  const hide = () => {
    form.elements.score.parentElement.hidden = !isOther();
    form.elements.score.required = isOther();
  };
  form.elements.expected.value = record.status === "ok" && record.score >= 0.5 ? "0" : "1";
  form.elements.expected.addEventListener("change", hide);
  hide();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { expected, score, note } = form.elements;
    const verdict = expected.value === "invalid" ? { status: "invalid" } : { score: Number(isOther() ? score.value : expected.value) };
    try {
      const reply = await call("/v1/log/corrections", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ row: record.row, ...verdict, note: note.value }) });
      if (!reply.ok) return told.replaceChildren(await problem(reply));
      const { count } = await reply.json();
      return told.replaceChildren(`Kept. ${count === 1 ? "It is the only case" : `There are ${count} cases`}: `, make("a", { href: "/v1/log/corrections", download: "cases.jsonl", onclick: (event) => save(event, told) }, "save them"), ", and `rewardline check cases.jsonl` judges them again.");
    } catch (error) {
      return told.replaceChildren(error.message);
    }
  });
  return make("details", {}, make("summary", {}, "Correct this verdict"), form, told);
}

/** Save all cases as a file, with the reader's key. */
async function save(event, told) {
  event.preventDefault();
  try {
    const reply = await call("/v1/log/corrections");
    if (!reply.ok) return told.replaceChildren(await problem(reply));
    return saveAs(await reply.blob(), "cases.jsonl");
  } catch (error) {
    return told.replaceChildren(error.message);
  }
}
