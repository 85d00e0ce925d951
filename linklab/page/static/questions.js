// The questions at the end of the manual: a field for each answer, kept as it is written; above them the name.
import { make } from "./elements.js";
import * as server from "./server.js";

const PAUSE_MS = 800;

// Gives where Alt+PageDown stops, as steps.js takes it.
export function start(element, context) {
  const heading = element.querySelector("#questions");
  let list = heading?.nextElementSibling;
  while (list && list.tagName !== "OL") list = list.tagName === "H2" ? null : list.nextElementSibling;
  const stops = [];
  const fields = [...(list?.children || [])].map((item, at) => {
    const number = String(at + 1);
    const question = make("div", { id: `question-${number}` }, ...item.childNodes);
    item.append(question);
    const box = make("textarea", { id: `answer-${number}`, rows: "3", "aria-describedby": question.id });
    stops.push({ box: item, target: box, nothing: "This is a question: write your answer into its field. It is kept as you write." });
    return field(item, box, `Your answer to question ${number}`, `answers/${number}`, (event) => event.answers[number]);
  });
  if (list) {
    const above = make("div", { class: "name" });
    list.before(above);
    const box = make("input", { id: "student-name", autocomplete: "name" });
    const questions = list.children.length;
    stops.unshift({
      box: above, target: box, nothing: "This is the field for your name.",
      arriving: `The steps end here. Now your name, and then the questions: there are ${questions}. Alt+PageDown leads to the next.`,
    });
    const name = field(above, box, "Your name, for the report", "name", (event) => event.name);
    fields.push({ ...name, learn: (event) => {
      box.readOnly = event.fixed; // given with linklab lab --name
      name.learn(event);
    } });
  }
  context.onEvent("notes", (event) => {
    for (const one of fields) one.learn(event);
  });
  addEventListener("pagehide", () => {
    for (const one of fields) one.leave();
  });
  return stops;
}

// A field that is kept at an address of the server; kept: what an event says that the server has.
function field(item, box, label, address, kept) {
  const said = make("span", { role: "status" });
  let waiting = 0;
  let unsaved = false; // what is written here is not, or not yet, what the server has
  let sending = Promise.resolve();
  const send = async (options) => {
    const text = box.value;
    try {
      const answer = await server.ask("POST", address, { text }, options);
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
  item.append(make("p", { class: "answer" }, make("label", { for: box.id }, label), box, said));
  return {
    // What the server has, also after a connection was lost: it never takes away what it does not have.
    learn(event) {
      if (unsaved) keep();
      else if (document.activeElement !== box) box.value = kept(event) || "";
    },
    leave() {
      if (unsaved) send({ keepalive: true });
    },
  };
}
