// Predictions: a form at each question of the manual; afterwards prediction, theory, and measurement beside each other.
// What the recorded run gave at a step that decides one is behind a disclosure until the reader has measured it.
import { beginning, sentence } from "./announcing.js";
import { make } from "./elements.js";
import * as server from "./server.js";

// Of each kind of quantity, as the manual says what is asked for; other spellings are understood too.
const UNITS = {
  rate: ["Mbps", "Gbps", "kbps"], time: ["ms", "µs", "s"], size: ["bytes", "kB", "MB", "GB"], share: ["%"],
  number: ["packets", "segments", "times"],
};

class Question {
  constructor(facts, box, context) {
    this.facts = facts;
    this.box = box;
    this.context = context;
    this.written = null;
    this.details = box.querySelector("details");
    const id = `prediction-${facts.id}`;
    const kinds = facts.asks.filter((kind) => kind in UNITS);
    this.number = make("input", { id: `${id}-number`, inputmode: "decimal", autocomplete: "off" });
    this.unit = make("input", { id: `${id}-unit`, list: `${id}-units`, autocomplete: "off" });
    this.words = make("textarea", { id: `${id}-words`, rows: "1" });
    this.why = make("textarea", { id: `${id}-why`, rows: "2" });
    const units = make("datalist", { id: `${id}-units` },
      ...kinds.flatMap((kind) => UNITS[kind]).map((unit) => make("option", { value: unit })));
    this.said = make("span", { role: "status", id: `${id}-said` });
    this.closed = make("span", { hidden: true }, "This prediction was made before its measurement, and stays as it is.");
    const field = (label, input, wide) =>
      make("p", { class: wide ? "write wide" : "write" }, make("label", { for: input.id }, label), input);
    this.form = make("form", { class: "fields", onsubmit: (event) => this.#keep(event) },
      ...(kinds.length ? [field("Number", this.number), field("Unit", this.unit), units] : []),
      ...(facts.asks.includes("words") ? [field(kinds.length ? "In words" : "Your prediction", this.words, true)] : []),
      field("Why", this.why, true),
      this.button = make("button", { "data-needs": "server", "aria-label": `Keep my prediction ${facts.number}` },
        "Keep my prediction"), this.said, this.closed);
    box.querySelector(".write")?.replaceWith(this.form);
    const question = box.querySelector(".question");
    question.id ||= `${id}-question`;
    this.form.querySelector("input, textarea").setAttribute("aria-describedby", question.id);
    this.beside = make("div", { class: "compared", hidden: true });
    box.append(this.beside);
    this.recorded = facts.settled.map((step) => new Recorded(step)).filter((one) => one.output);
    this.show(null, null, {});
  }

  async #keep(event) {
    event.preventDefault();
    try {
      const fields = {
        number: this.number.value, unit: this.unit.value, words: this.words.value, why: this.why.value,
      };
      const { text, kept } = await server.ask("POST", `predictions/${this.facts.id}`, fields);
      const shown = this.details && Object.values(kept).some(Boolean) ? ` Below it, “${this.details.querySelector("summary").textContent}” opens the theory.` : "";
      this.said.textContent = text + shown;
      this.#complain(false);
      for (const [name, value] of Object.entries(kept)) { // a unit behind the number moves to its own field
        if (this[name].value === fields[name]) this[name].value = value;
      }
    } catch (error) {
      this.said.textContent = error.message;
      this.#complain(true);
    }
  }

  // The first field is where nearly every refusal is mended: the number, or the words where there is none.
  #complain(refused) {
    const field = this.form.querySelector("input, textarea");
    if (!refused) {
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-errormessage");
      return;
    }
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-errormessage", this.said.id);
    field.focus();
  }

  // What is kept, and once the steps that decide are done, what they measured; null is what is not known yet.
  // told: the number, also in the unit of measurements; said: a sentence on when it was written; closed: whether it can
  // no longer be changed; aloud: whether a comparison that is new is announced, too.
  show(written, measured, { told = "", said = "", closed = false, aloud = false }) {
    if (written && JSON.stringify(written) !== JSON.stringify(this.written) && !this.form.contains(document.activeElement)) {
      for (const name of ["number", "unit", "words", "why"]) this[name].value = written[name] || "";
    }
    this.written = written;
    if (this.details) this.details.hidden = !written && measured === null; // first predict, then read
    for (const input of [this.number, this.unit, this.words, this.why]) input.readOnly = closed;
    if (closed && this.unit.hasAttribute("list")) withoutChoices(this.unit);
    if (closed !== this.button.hidden) {
      this.button.hidden = closed;
      this.closed.hidden = !closed; // not announced: that it can be compared is
      this.said.textContent = "";
    }
    this.beside.hidden = measured === null;
    if (measured === null || JSON.stringify([written, measured, told, said]) === this.drawn) return;
    this.drawn = JSON.stringify([written, measured, told, said]);
    for (const one of this.recorded) one.open();
    const theory = [...(this.details?.childNodes || [])].filter((node) => node.nodeName !== "SUMMARY");
    const number = told || `${written?.number} ${written?.unit}`.trim();
    const own = written ? [make("strong", {}, number), make("p", {}, written.words), make("p", {}, written.why),
      said ? make("p", {}, make("em", {}, said)) : ""] : ["none written"];
    const shown = measured.length ? measured : [`see the output of ${this.#deciding()}`];
    const seen = shown.map((one) => make("p", {}, one));
    if (aloud) this.#tell(written && sentence([number, written.words].filter(Boolean).join("; ")), shown, theory);
    this.beside.replaceChildren(make("table", { class: "beside" },
      make("caption", {}, "Prediction, measurement, and theory"),
      make("tbody", {},
        make("tr", {}, make("th", { scope: "row" }, "Your prediction"), make("td", {}, ...own)),
        make("tr", {}, make("th", { scope: "row" }, "Measured by you"), make("td", {}, ...seen)),
        make("tr", {}, make("th", { scope: "row" }, "Theory"), make("td", {}, ...theory.map((node) => node.cloneNode(true)))))));
  }

  // The names of the steps that decide it.
  #deciding() {
    const names = this.facts.settled.map((id) => this.context.steps.find((step) => step.id === id)?.name || id);
    return names.map((name) => `“${name}”`).join(" and ");
  }

  #tell(own, seen, theory) {
    const why = beginning(theory.map((node) => node.textContent).join(" "));
    this.context.announce([
      `Prediction ${this.facts.number} can be compared. Your prediction: ${own || "none written."}`,
      sentence(`Measured by you: ${seen.join("; ")}`), why && `Theory: ${why}`, "The table below the prediction says more.",
    ].filter(Boolean).join(" "));
  }
}

// Chromium tells nobody that a field with choices is read-only, and takes it for one until it is put in again.
function withoutChoices(field) {
  const place = document.createComment("");
  field.removeAttribute("list");
  field.replaceWith(place);
  place.replaceWith(field);
}

// The recorded output of a step that decides a prediction.
class Recorded {
  constructor(step) {
    this.output = document.querySelector(`#block-${CSS.escape(step)} pre.output`);
    if (!this.output || this.output.closest("details")) return; // another prediction may be decided by it too
    const shows = "Show what the recorded run gave", name = this.output.closest("[role=group][aria-describedby]")?.ariaLabel;
    const hidden = make("details", { class: "recorded" },
      make("summary", { "aria-label": name && `${shows}: ${name}` }, shows));
    this.output.replaceWith(hidden);
    hidden.append(this.output);
  }

  open() {
    this.output.closest("details").open = true;
  }
}

export function start(element, context) {
  const questions = new Map();
  for (const facts of context.predictions) {
    const box = element.querySelector(`#predict-${CSS.escape(facts.id)}`);
    if (box) questions.set(facts.id, new Question(facts, box, context));
  }
  let notes = {};
  let settled = { predictions: {}, told: {}, said: {}, closed: [] };
  let begun = false; // whether the page has heard what was settled before it was opened
  const show = (aloud) => {
    for (const [id, question] of questions) {
      question.show(notes[id] || null, settled.predictions[id] ?? null,
        { told: settled.told[id], said: settled.said[id], closed: settled.closed.includes(id), aloud });
    }
  };
  context.onEvent("notes", (event) => {
    notes = event.predictions;
    show(false);
  });
  context.onEvent("settled", (event) => {
    settled = event;
    show(begun);
    begun = true;
  });
}
