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
    for (const one of fields) one.learn(event.answers[one.number] || "");
  });
  addEventListener("pagehide", () => {
    for (const one of fields) one.leave();
  });
}

function field(item, number) {
  const box = make("textarea", { id: `answer-${number}`, rows: "3" });
  const said = make("span", { role: "status" });
  let waiting = 0;
  let unsaved = false; // what is written here is not, or not yet, what the server has
  let sending = Promise.resolve();
  const send = async (options) => {
    const text = box.value;
    try {
      const answer = await server.ask("POST", `answers/${number}`, { text }, options);
      if (box.value === text) unsaved = false;
      said.textContent = answer.text;
    } catch (error) {
      said.textContent = error.message;
    }
  };
  const keep = () => {
    clearTimeout(waiting);
    sending = sending.then(() => (unsaved ? send() : undefined)); // one after the other, so that the newest stays
  };
  box.addEventListener("input", () => {
    unsaved = true;
    clearTimeout(waiting);
    waiting = setTimeout(keep, PAUSE_MS);
  });
  box.addEventListener("change", keep);
  item.append(make("p", { class: "answer" }, make("label", { for: box.id }, `Your answer to question ${number}`), box, said));
  return {
    number,
    // What the server has, also after a connection was lost: it never takes away what it does not have.
    learn(text) {
      if (unsaved) keep();
      else if (document.activeElement !== box) box.value = text;
    },
    leave() {
      if (unsaved) send({ keepalive: true });
    },
  };
}
