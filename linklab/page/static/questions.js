// The questions at the end of the manual: a field for each answer, kept as it is written.
import { make } from "./elements.js";
import * as server from "./server.js";

const PAUSE_MS = 800;

export function start(element, context) {
  const heading = element.querySelector("#questions");
  let list = heading?.nextElementSibling;
  while (list && list.tagName !== "OL") list = list.tagName === "H2" ? null : list.nextElementSibling;
  const fields = [...(list?.children || [])].map((item, at) => field(item, String(at + 1)));
  context.onEvent("notes", (event) => {
    for (const { number, box } of fields) {
      if (document.activeElement !== box) box.value = event.answers[number] || "";
    }
  });
}

function field(item, number) {
  const box = make("textarea", { id: `answer-${number}`, rows: "3" });
  const said = make("span", { role: "status" });
  let waiting = 0;
  const keep = async () => {
    clearTimeout(waiting);
    try {
      said.textContent = (await server.ask("POST", `answers/${number}`, { text: box.value })).text;
    } catch (error) {
      said.textContent = error.message;
    }
  };
  box.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(keep, PAUSE_MS);
  });
  box.addEventListener("change", keep);
  item.append(make("p", { class: "answer" }, make("label", { for: box.id }, `Your answer to question ${number}`), box, said));
  return { number, box };
}
