// The terminals of the page: tabs, what opens and closes them, and commands that are put into them.
import { Drawing } from "./drawing.js";
import { make, Tabs } from "./elements.js";
import { colours, load, Screen } from "./screen.js";
import * as server from "./server.js";

const IN_FRONT = "linklab/terminal";
const READER = "linklab-screen-reader"; // a cookie: it is for every port, and each start of a lab has another one
const KEPT_S = 400 * 86400; // no browser keeps one for longer

// All terminals, in a region of the page.
class Terminals {
  constructor(element, context) {
    this.context = context;
    this.element = element;
    this.prompt = new RegExp(`^(?:${context.prompt})`);
    this.screens = new Map();
    this.drawing = new Drawing(() => this.current);
    this.waiting = [];
    this.screenReader = document.cookie.split("; ").includes(`${READER}=yes`);
    this.tabs = new Tabs("Terminals", () => this.#chosen());
    this.panels = make("div", { class: "panel" });
    this.panels.style.display = "flex";
    this.which = make("select", { id: "which-node", "aria-label": "Where a new terminal opens" });
    const button = (text, label, act, needs) =>
      make("button", { type: "button", "aria-label": label, "data-needs": needs, onclick: act }, text);
    this.bar = make("div", { class: "tabs" }, this.tabs.list, this.which,
      button("New", "New terminal", async () => (await this.open(this.which.value))?.term.focus(), "network"),
      button("Close", "Close this terminal", () => this.close(), "server"),
      button("Copy", "Copy the selection", () => this.current?.copy()),
      button("Paste", "Paste into this terminal", () => this.current?.paste(), "network"),
      make("label", {}, this.#reader(), " Screen reader"));
    this.empty = make("p", {}, "The network is starting; its terminals open then.");
    this.panels.append(this.empty);
    element.append(this.bar, this.panels);
    document.addEventListener("visibilitychange", () => {
      for (const screen of this.screens.values()) screen.seen();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      for (const screen of this.screens.values()) screen.term.options.theme = colours();
    });
  }

  #reader() {
    const box = make("input", { type: "checkbox", onchange: () => {
      this.screenReader = box.checked;
      document.cookie = `${READER}=${box.checked ? "yes" : "no"}; path=/; max-age=${KEPT_S}; samesite=strict`;
      for (const screen of this.screens.values()) screen.readAloud(box.checked);
    } });
    box.checked = this.screenReader;
    return box;
  }

  get current() {
    return this.screens.get(this.tabs.chosen);
  }

  ofPage(event) {
    return this.context.isKey(event);
  }

  say(text) {
    this.context.say(text);
  }

  // What the terminal in front shows, as text, or the terminal again.
  readOutput() {
    if (!this.current) return;
    this.context.show("terminals");
    this.current.output.toggle();
  }

  setNodes(nodes) {
    this.which.replaceChildren(...nodes.map((node) => make("option", { value: node }, node)));
    const used = this.context.steps.filter(({ kind, in_editor: inEditor }) => kind === "commands" && !inEditor);
    const first = used.map(({ terminal }) => terminal.split("#")[0]).find((node) => nodes.includes(node));
    if (first) this.which.value = first;
    this.empty.textContent = "Open a terminal with New, or put a command of the manual into one.";
  }

  // What the server says there is; tabs that other browsers opened or closed follow.
  list(facts) {
    for (const one of facts) {
      if (!this.screens.has(one.id)) this.screens.set(one.id, new Screen(one, this.tabs, this.panels, this));
      this.screens.get(one.id).tab.classList.toggle("closed", one.state === "closed");
      this.screens.get(one.id).facts = one;
    }
    for (const [id, screen] of this.screens) {
      if (facts.some((one) => one.id === id)) continue;
      this.screens.delete(id);
      screen.end();
      this.tabs.remove(id);
    }
    this.empty.hidden = this.screens.size > 0;
    const before = Number(sessionStorage.getItem(IN_FRONT)); // of this page, before it was loaded again
    if (!this.listed && this.screens.has(before)) this.tabs.choose(before);
    this.listed = true;
    if (this.current && !this.current.opened) this.#chosen();
    this.waiting.splice(0).forEach((look) => look());
  }

  #chosen() {
    this.current?.shown();
    if (this.listed && this.current) sessionStorage.setItem(IN_FRONT, this.current.facts.id);
  }

  // A terminal by its name in the manual, opened if it is not there.
  async named(name) {
    const find = () => [...this.screens.values()].find((screen) => screen.facts.name === name && screen.facts.state !== "closed");
    return find() || this.open(name);
  }

  async open(name) {
    try {
      const size = this.current?.term || { rows: 24, cols: 80 };
      const facts = await server.ask("POST", "terminals", { name, rows: size.rows, columns: size.cols });
      while (!this.screens.has(facts.id)) await new Promise((done) => this.waiting.push(done));
      this.tabs.choose(facts.id);
      this.context.announce(`Terminal ${facts.name} is open.`);
      return this.screens.get(facts.id);
    } catch (error) {
      this.context.announce(error.message, true);
      return null;
    }
  }

  async close() {
    const screen = this.current;
    if (!screen) {
      this.context.announce("No terminal is open.");
      return;
    }
    try {
      await server.ask("DELETE", `terminals/${screen.facts.id}`);
      this.context.announce(`Terminal ${screen.facts.name} is closed.`);
    } catch (error) {
      this.context.announce(error.message, true);
    }
  }

  // Show a terminal of the manual and put text into it; Enter is the reader's unless it is asked for.
  async put(name, text, { enter = false, interrupt = false } = {}) {
    const screen = await this.named(name);
    if (!screen) return;
    this.context.show("terminals");
    this.tabs.choose(screen.facts.id);
    if (interrupt) screen.interrupt();
    else if (!text) screen.term.focus();
    else {
      const refusal = await screen.put(text, enter).catch((error) => error.message);
      if (refusal) {
        this.context.announce(refusal, true);
        return;
      }
    }
    if (interrupt) this.context.announce(`Ctrl+C in ${name}.`);
    else if (text) this.context.announce(`In terminal ${name}: ${text}${enter ? "" : ". Press Enter to run it."}`);
  }

  focus() {
    if (this.current) this.current.term.focus();
    else this.element.focus();
  }
}

export async function start(element, context) {
  await load();
  return new Terminals(element, context);
}
