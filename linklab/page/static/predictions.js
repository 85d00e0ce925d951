// Predictions: a form at each question of the manual; afterwards prediction, theory, and measurement beside each other.
import { make } from "./elements.js";
import * as server from "./server.js";

const UNITS = ["", "ms", "µs", "s", "Mbit/s", "Gbit/s", "kbit/s", "bytes", "kB", "MB", "packets", "%", "times"];

class Question {
  constructor(facts, box, context) {
    this.facts = facts;
    this.box = box;
    this.context = context;
    this.written = null;
    this.details = box.querySelector("details");
    const id = `prediction-${facts.id}`;
    this.number = make("input", { id: `${id}-number`, inputmode: "decimal", autocomplete: "off" });
    this.unit = make("input", { id: `${id}-unit`, list: "units", autocomplete: "off" });
    this.why = make("textarea", { id: `${id}-why`, rows: "2" });
    this.said = make("span", { role: "status" });
    const field = (label, input, wide) =>
      make("p", { class: wide ? "write wide" : "write" }, make("label", { for: input.id }, label), input);
    this.form = make("form", { class: "fields", onsubmit: (event) => this.#keep(event) },
      field("Number, if one is asked for", this.number), field("Unit", this.unit), field("Why", this.why, true),
      this.button = make("button", {}, "Keep my prediction"), this.said);
    box.querySelector(".write")?.replaceWith(this.form);
    this.beside = make("div", { class: "compared", hidden: true });
    box.append(this.beside);
    this.show(null, null, {});
  }

  async #keep(event) {
    event.preventDefault();
    try {
      const fields = { number: this.number.value, unit: this.unit.value, why: this.why.value };
      this.said.textContent = (await server.ask("POST", `predictions/${this.facts.id}`, fields)).text;
    } catch (error) {
      this.said.textContent = error.message;
    }
  }

  // What is kept, and once the steps that decide are done, what they measured; null is what is not known yet.
  // said: a sentence on when it was written; closed: whether it can no longer be changed.
  show(written, measured, { said = "", closed = false }) {
    if (written && JSON.stringify(written) !== JSON.stringify(this.written) && !this.form.contains(document.activeElement)) {
      [this.number.value, this.unit.value, this.why.value] = [written.number, written.unit, written.why];
    }
    this.written = written;
    if (this.details) this.details.hidden = !written && measured === null; // first predict, then read
    for (const input of [this.number, this.unit, this.why]) input.readOnly = closed;
    if (closed !== this.button.hidden) {
      this.button.hidden = closed;
      this.said.textContent = closed ? "This prediction was made before its measurement, and stays as it is." : "";
    }
    this.beside.hidden = measured === null;
    if (measured === null || JSON.stringify([written, measured, said]) === this.drawn) return;
    this.drawn = JSON.stringify([written, measured, said]);
    const theory = [...(this.details?.childNodes || [])].filter((node) => node.nodeName !== "SUMMARY");
    const own = written ? [make("strong", {}, `${written.number} ${written.unit}`.trim()), make("p", {}, written.why),
      said ? make("p", {}, make("em", {}, said)) : ""] : ["none written"];
    const seen = measured.length ? measured.map((one) => make("p", {}, one)) : ["see the step's output"];
    this.beside.replaceChildren(make("table", { class: "beside" },
      make("caption", {}, "Prediction, measurement, and theory"),
      make("tbody", {},
        make("tr", {}, make("th", { scope: "row" }, "Your prediction"), make("td", {}, ...own)),
        make("tr", {}, make("th", { scope: "row" }, "Measured by you"), make("td", {}, ...seen)),
        make("tr", {}, make("th", { scope: "row" }, "Theory"), make("td", {}, ...theory.map((node) => node.cloneNode(true)))))));
  }
}

export function start(element, context) {
  document.body.append(make("datalist", { id: "units" }, ...UNITS.map((unit) => make("option", { value: unit }))));
  const questions = new Map();
  for (const facts of context.predictions) {
    const box = element.querySelector(`#predict-${CSS.escape(facts.id)}`);
    if (box) questions.set(facts.id, new Question(facts, box, context));
  }
  let notes = {};
  let settled = { predictions: {}, said: {}, closed: [] };
  const show = () => {
    for (const [id, question] of questions) {
      question.show(notes[id] || null, settled.predictions[id] ?? null,
        { said: settled.said[id], closed: settled.closed.includes(id) });
    }
  };
  context.onEvent("notes", (event) => {
    notes = event.predictions;
    show();
  });
  context.onEvent("settled", (event) => {
    settled = event;
    show();
  });
}
