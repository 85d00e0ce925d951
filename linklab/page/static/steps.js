// The manual of the page: each step gets buttons that put its command into its terminal, its state, and hints.
import { firstSentence, sentence } from "./announcing.js";
import { explained, make, redraw } from "./elements.js";
import * as server from "./server.js";

const WORDS = {
  open: "○ open", done: "✓ done", "done differently": "✓ done differently", wrong: "✗ not right yet",
};

const SAME = ["story", "expected", "seen"]; // what says which mistake it is

const KEPT = "linklab/step"; // of this tab: a page that is loaded again goes on at the step where the reader was
const END = "This is the end of the manual: there is no further step or question. Your report is at the top of the page.";
const ONWARD = "Alt+PageDown leads to what comes next.";

class Step {
  constructor(facts, box, context) {
    this.facts = facts;
    this.box = this.target = box;
    this.context = context;
    this.mark = make("span", { class: "mark", "data-state": "open" });
    this.found = make("div", { class: "found", hidden: true });
    this.hints = make("div", { class: "found", role: "status", hidden: true });
    this.buttons = make("div", { class: "do" });
    box.tabIndex = -1;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", facts.place ? `${facts.place}: ${facts.name}` : facts.name);
    const label = box.querySelector(".label");
    label.append(" ", this.mark);
    label.id ||= `label-${facts.id}`;
    box.setAttribute("aria-describedby", label.id);
    box.append(this.buttons, this.found, this.hints);
    if (facts.note) this.buttons.append(make("p", {}, facts.note));
    if (!facts.in_editor) this.#offer();
    this.hint = this.#button("Hint", () => this.help(), "server");
    this.hint.hidden = true;
  }

  // Named with its step, since a screen reader lists all buttons of the page together.
  #button(text, act, needs = this.facts.kind === "file" ? "server" : "network") {
    const name = `${text}: ${this.facts.name}`;
    const button = make("button", { type: "button", "aria-label": name, "data-needs": needs, onclick: act }, text);
    this.buttons.append(button);
    return button;
  }

  #offer() {
    const { kind, terminal, nodes, stops } = this.facts;
    if (kind === "commands") {
      this.#button(`Put into ${terminal}`, () => this.put(false));
      this.#button("Type with Enter", () => this.put(true));
      if (stops) this.#button("Ctrl+C", () => this.interrupt());
    } else if (kind === "interrupt") {
      this.#button(`Ctrl+C in ${terminal}`, () => this.interrupt());
    } else if (kind === "file") {
      this.#button("Write this file", () => this.write());
    } else if (nodes.length) {
      this.#button(`Open ${nodes.join(", ")}`, () => this.open());
    }
  }

  put(enter) {
    const { kind, terminal, lines, nodes, note, in_editor: inEditor } = this.facts;
    if (inEditor) return this.context.announce(note, true);
    if (["editor", "await"].includes(kind) && !nodes.length) {
      return this.context.announce(note || `There is nothing to type at this step. ${ONWARD}`, true);
    }
    if (kind === "commands") return this.context.openTerminal(terminal, lines.join("\n"), { enter });
    if (kind === "interrupt") return this.interrupt();
    if (kind === "file") return this.write();
    return this.open();
  }

  interrupt() {
    return this.context.openTerminal(this.facts.terminal, "", { interrupt: true });
  }

  async open() {
    for (const node of this.facts.nodes) await this.context.openTerminal(node, "");
  }

  async write(replace = false) {
    try {
      this.context.announce((await server.ask("POST", `steps/${this.facts.id}/write`, { replace })).text, true);
    } catch (error) {
      const asks = error.status === 409 && !replace;
      if (asks && confirm(`${error.message} Replace it? Yours is kept under its name with a ~ at the end.`)) await this.write(true);
      else this.context.announce(error.message, true);
    }
  }

  async help() {
    try {
      const { text } = await server.ask("POST", `steps/${this.facts.id}/hint`);
      this.hints.replaceChildren(make("p", {}, text));
    } catch (error) {
      this.hints.replaceChildren(make("p", {}, error.message));
    }
    this.hints.hidden = false;
  }

  #words(state) {
    if (state.left_out) return "○ left out";
    if (!state.counts && this.facts.note) return this.facts.in_editor ? "in the editor" : "not followed";
    return WORDS[state.status] || state.status;
  }

  // What the guide says of it; what is wrong comes with what was expected, what was seen, and why.
  // Gives what is to be announced: a state that is new, a mistake made again, and another one; "" for nothing.
  show(state) {
    const before = this.state;
    this.state = state;
    this.mark.dataset.state = state.status === "done differently" ? "differently" : state.status;
    this.mark.textContent = this.#words(state);
    const line = (label, text) => (text ? make("p", {}, label ? make("strong", {}, label) : null, text) : null);
    const parts = state.status === "done" ? [] : [
      line("", state.story), line("Expected: ", state.expected), line("Seen: ", state.seen), line("Why: ", state.why),
    ].filter(Boolean);
    if (parts.length && state.advice) parts.push(line("What the message means:", " "), ...explained(state.advice));
    redraw(this.found, parts);
    this.found.hidden = !parts.length;
    const good = state.status.startsWith("done");
    this.hint.hidden = good || !state.hints;
    if (good) this.hints.hidden = true;
    const more = before?.status === "wrong" && state.status === "wrong" && before.tries !== state.tries;
    return before && (before.status !== state.status || more) ? this.#told(state, more && before) : "";
  }

  #told(state, before) {
    const how = this.mark.textContent.slice(2);
    const same = before && SAME.every((what) => before[what] === state[what]);
    const now = before && !same ? `still ${how}` : how + (same ? ", once more" : "");
    const said = `${this.box.ariaLabel}: ${now}. ${sentence(state.story)}`.trim();
    if (state.status !== "wrong") return said;
    const means = state.advice && firstSentence(state.advice);
    return [
      said, sentence(state.expected && `Expected: ${state.expected}`), sentence(state.seen && `Seen: ${state.seen}`),
      state.why && `Why: ${firstSentence(state.why)}`, means && `What the message means: ${means}`,
      state.advice ? "The step says more." : "",
    ].filter(Boolean).join(" ");
  }
}

// A prediction, where whoever goes from step to step by keys stops as well: it is written before its step is done.
function predictionStop(box) {
  box.tabIndex = -1;
  const question = box.querySelector(".question");
  question.id ||= `${box.id}-question`;
  box.setAttribute("aria-describedby", question.id);
  return { box, target: box, nothing: `This is a prediction: ${ONWARD}` };
}

class Steps {
  constructor(element, context) {
    this.context = context;
    this.element = element;
    this.bar = element.querySelector("#guide");
    this.steps = [];
    this.at = -1;
    for (const facts of context.steps) {
      const box = element.querySelector(`#block-${CSS.escape(facts.id)}`);
      if (box) this.steps.push(new Step(facts, box, context));
    }
    const predictions = [...element.querySelectorAll(".predict")].map(predictionStop);
    this.stops = [];
    this.add([...this.steps, ...predictions]);
    element.addEventListener("focusin", (event) => {
      const at = this.stops.findIndex((stop) => stop.box.contains(event.target));
      if (at >= 0) this.#here(at);
    });
    context.onEvent("guide", (event) => this.show(event));
    new ResizeObserver(() => (element.style.scrollPaddingTop = `${this.bar.offsetHeight + 4}px`)).observe(this.bar); // it sticks there
  }

  // More places where Alt+PageDown stops, each { box, target: what gets the focus, nothing: why nothing is put there,
  // arriving: what is said on the way to it from above }.
  add(stops) {
    this.stops = [...this.stops, ...stops].sort((one, other) =>
      (one.box.compareDocumentPosition(other.box) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1));
    if (this.at < 0) this.at = this.stops.findIndex(({ box }) => box.id && box.id === sessionStorage.getItem(KEPT));
  }

  #here(at) {
    this.stops[this.at]?.box.classList.remove("current");
    this.at = at;
    this.stops[at].box.classList.add("current");
    sessionStorage.setItem(KEPT, this.stops[at].box.id);
  }

  #goTo(at) {
    this.context.show("manual");
    this.#here(at);
    const { box, target } = this.stops[at];
    target.focus({ preventScroll: true });
    const { scrollPaddingTop, scrollPaddingBottom } = getComputedStyle(this.element);
    const room = this.element.clientHeight - parseFloat(scrollPaddingTop) - parseFloat(scrollPaddingBottom);
    box.scrollIntoView({ block: box.offsetHeight > room ? "start" : "center" }); // its name is seen in any case
  }

  // From where the reader is: in the midst of the text, such as in a table, that lies between two of them.
  move(by) {
    const here = document.activeElement;
    const beside = here !== this.element && this.element.contains(here) && !this.stops.some(({ box }) => box.contains(here));
    let from = this.at;
    if (beside) {
      const below = this.stops.findIndex(({ box }) => here.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING);
      from = (below < 0 ? this.stops.length : below) - (by > 0 ? 1 : 0);
    }
    const to = Math.min(this.stops.length - 1, Math.max(0, from + by));
    if (to < 0) return;
    const [stays, arriving] = [to === this.at && !beside, by > 0 ? this.stops[to].arriving : ""];
    this.#goTo(to);
    if (stays) this.context.announce(by > 0 ? END : "This is the first step of the manual.");
    else if (arriving) this.context.announce(arriving);
  }

  // The focus to the step where the reader was; whether there is one.
  focus() {
    if (this.at < 0) return false;
    this.#goTo(this.at);
    return true;
  }

  put(enter) {
    if (this.at < 0) this.move(1);
    const stop = this.stops[this.at];
    if (stop?.put) stop.put(enter);
    else if (stop) this.context.announce(stop.nothing, true);
  }

  show({ steps, next, trouble }) {
    const states = new Map(steps.map((state) => [state.id, state]));
    for (const step of this.steps) {
      const told = states.has(step.facts.id) && step.show(states.get(step.facts.id));
      if (told) this.context.announce(told);
    }
    const needed = steps.filter((state) => state.counts);
    const inEditor = this.steps.filter((step) => step.facts.in_editor && !states.get(step.facts.id)?.counts).length;
    const done = needed.filter((state) => state.status.startsWith("done")).length;
    const at = this.steps.findIndex((step) => step.facts.id === next);
    const rest = `All steps that this page can do are done; the other ${inEditor} are for the editor.`;
    const last = this.element.querySelector("#questions")
      ? [" ", make("a", { href: "#questions" }, "Answer the questions"), ", then look at your report, at the top of the page."] : [];
    const following = states.get(next);
    const lead = following?.status === "wrong" ? "✗ Not right yet" : following?.undone ? "Open again" : "Next";
    const why = following?.status === "open" && following.story ? ` – ${following.story.replace(/\.$/, "")}.` : "";
    const what = at < 0 ? [inEditor ? rest : "Every step of this lab is done.", ...last] : [
      make("a", { href: `#block-${next}`, onclick: (event) => {
        event.preventDefault();
        this.#goTo(this.stops.indexOf(this.steps[at]));
      } }, `${lead}: ${following.task || this.steps[at].facts.name}`),
      following.subgoal ? ` (${following.subgoal.replace(/\.$/, "")})` : "", why,
    ];
    redraw(this.bar, [make("p", {}, `${done} of ${needed.length} steps done. `, ...what),
      trouble ? make("p", { class: "trouble" }, `${trouble}.`) : ""]);
  }
}

// The sections as a list of links, closed at first: the manual begins below it.
function contents(article) {
  const links = [...article.querySelectorAll("h2[id], h3[id]")].map((heading) =>
    make("li", { class: heading.tagName === "H3" ? "level-2" : "level-1" },
      make("a", { href: `#${heading.id}` }, heading.textContent)));
  return make("nav", { "aria-label": "Contents" },
    make("details", {}, make("summary", {}, "Contents"), make("ul", {}, ...links)));
}

export async function start(element, context) {
  const article = element.querySelector("#manual");
  article.innerHTML = await server.text("manual");
  (await import(server.at("scroll.js"))).stopWhereItScrolls(article);
  article.before(contents(article));
  return new Steps(element, context);
}
