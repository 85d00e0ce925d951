// The terminals of the page: tabs with xterm.js, each on a WebSocket that survives a reload of the page.
import { Drawing } from "./drawing.js";
import { make, Tabs } from "./elements.js";
import * as server from "./server.js";

const FONT_PX = 13;
const SHOWN_MS = 8;
const IN_FRONT = "linklab/terminal";
const READER = "linklab-screen-reader"; // a cookie: it is for every port, and each start of a lab has another one
const KEPT_S = 400 * 86400; // no browser keeps one for longer
const PROMPT_MS = 3000;
const LINE_MS = 1500;
const MOST_TYPED = 4 * 2 ** 20; // letters at once; in UTF-8 no more than attach_server.py keeps for a program that does not read
const PART = 64 * 2 ** 10; // letters of a message: at six bytes each still less than the server takes
const ENDED = "This terminal has ended; close its tab or open another one.";
const SILENT = "To have it read aloud, press Shift+Tab and tick Screen reader.";
const LOST = "The connection to the lab's program is lost; what you type is sent when it is back.";

let Terminal, FitAddon, WebLinksAddon;

async function load() {
  [{ Terminal }, { FitAddon }, { WebLinksAddon }] = await Promise.all(
    ["xterm.mjs", "xterm-fit.mjs", "xterm-web-links.mjs"].map((name) => import(server.at(`built/${name}`))),
  );
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    background: of("--term-bg"), foreground: of("--term-fg"), cursor: of("--term-fg"), cursorAccent: of("--term-bg"),
    selectionBackground: of("--term-selection"),
  };
}

// One terminal: its tab, its panel, its screen and its socket.
class Screen {
  constructor(facts, tabs, panels, owner) {
    this.facts = facts;
    this.owner = owner;
    this.panel = make("div", { class: "panel terminal", id: `terminal-${facts.id}` });
    this.notes = make("p", { class: "note-line", role: "status", hidden: true });
    this.screen = make("div", { class: "screen" });
    this.panel.append(this.screen, this.notes);
    panels.append(this.panel);
    this.panel.addEventListener("focusin", () => this.#talk(true));
    this.panel.addEventListener("focusout", () => this.#talk(false));
    this.tab = tabs.add(facts.id, facts.name, this.panel);
    this.tab.addEventListener("click", (event) => {
      if (event.detail) this.term.focus(); // of a mouse; by keyboard the arrows stay on the tabs
    });
    this.term = new Terminal({
      fontSize: FONT_PX, fontFamily: "ui-monospace, 'DejaVu Sans Mono', 'Liberation Mono', monospace", scrollback: 5000,
      screenReaderMode: owner.screenReader, theme: colours(), minimumContrastRatio: 4.5,
    });
    this.fit = new FitAddon();
    this.term.loadAddon(this.fit);
    this.term.loadAddon(new WebLinksAddon((_, address) => window.open(address, "_blank", "noopener")));
    this.term.attachCustomKeyEventHandler((event) => this.#key(event));
    this.drawn = 0;
    this.release = () => {};
    this.opened = false;
    this.drawing = false; // whether xterm.js draws it, which it does not while it is hidden
    this.prompted = new Promise((done) => {
      this.prompt = done;
      setTimeout(done, PROMPT_MS);
    });
    this.socket = server.socket(`terminal/${facts.id}`, {
      binary: true,
      onOpen: () => {
        if (this.notes.textContent === LOST) this.note("");
        this.size();
        this.seen();
      },
      onLost: (over) => {
        if (over) this.note(ENDED);
        else if (this.notes.textContent !== ENDED) this.note(LOST);
      },
      onMessage: (message) => this.#show(message),
    });
    this.term.onData((text) => this.press(text));
    this.term.onBinary((text) => this.press(text));
    this.term.onResize(({ rows, cols }) => this.socket.send({ rows, columns: cols }));
    new ResizeObserver(() => this.fitted()).observe(this.screen);
  }

  // Keys that the page keeps for itself; every other goes to the shell.
  #key(event) {
    if (this.owner.ofPage(event)) return false;
    if (event.type === "keydown" && event.ctrlKey && event.shiftKey && event.code === "KeyC") {
      event.preventDefault();
      this.copy();
      return false;
    }
    if (event.shiftKey && event.key === "Tab") return false; // out of the terminal, to the controls above it
    return !(event.ctrlKey && event.shiftKey && event.code === "KeyV"); // the browser pastes, as everywhere
  }

  #show(message) {
    if (typeof message !== "string") {
      this.owner.drawing.add(this, new Uint8Array(message));
      return;
    }
    const said = JSON.parse(message);
    if (said.taken) this.socket.taken(said.taken);
    if (said.reset) this.owner.drawing.reset(this);
    if (said.notice) this.note(said.notice);
    if (said.closed) this.note(ENDED);
  }

  clear() {
    this.term.reset();
  }

  // Draw bytes; resolved when they are drawn, or the terminal is closed.
  draw(bytes) {
    return new Promise((done) => {
      this.release = done;
      this.term.write(bytes, () => {
        this.#drew(bytes.length);
        this.prompt();
        done();
      });
    });
  }

  // Tell the server what has been drawn, so that it sends no more than this page can show.
  #drew(count) {
    if (!this.drawn) setTimeout(() => {
      this.socket.send({ shown: this.drawn });
      this.drawn = 0;
    }, SHOWN_MS);
    this.drawn += count;
  }

  note(text) {
    this.notes.textContent = text;
    this.notes.hidden = !text;
  }

  shown() {
    if (!this.opened) {
      this.opened = true;
      this.term.open(this.screen);
      this.term.textarea.setAttribute("aria-label", `Terminal ${this.facts.name}; F6 leaves it`);
      new IntersectionObserver((seen) => {
        this.drawing = seen.at(-1).isIntersecting;
        this.fitted();
      }).observe(this.screen);
      this.readAloud(this.owner.screenReader);
      this.drawing = true; // from its opening until its first look whether it is hidden
    }
    this.fitted();
  }

  // Whether what is shown is there for a screen reader; otherwise it is told how that is had.
  readAloud(yes) {
    this.term.options.screenReaderMode = yes;
    this.term.textarea?.setAttribute("aria-description", yes ? "" : SILENT);
    this.#talk(this.panel.contains(document.activeElement));
  }

  // A terminal talks where the focus is; what a program prints in another would interrupt all that is read.
  #talk(yes) {
    this.panel.querySelector(".live-region")?.setAttribute("aria-live", yes ? "assertive" : "off"); // xterm.js's own
  }

  // xterm.js learns by an IntersectionObserver that it is shown again, before this page does by its own, which is younger.
  // A size that it is given earlier it keeps for later, and what is printed meanwhile scrolls by the old one, for good.
  fitted() {
    if (this.drawing && this.screen.clientWidth > 20 && this.screen.clientHeight > 20) this.fit.fit();
  }

  size() {
    this.socket.send({ rows: this.term.rows, columns: this.term.cols });
  }

  // Tell whether the page is in a hidden tab, whose timers hardly run: no program waits for it to draw.
  seen() {
    this.socket.send({ hidden: document.hidden });
  }

  // Put text where the cursor is; of several lines the shell takes all together where it knows bracketed paste.
  async insert(text) {
    await this.prompted; // a shell that has just started does not know bracketed paste yet
    this.term.paste(text);
    this.term.focus();
  }

  // Put a command of the manual on the empty line behind the prompt; "" or why not. What stands there already is the
  // reader's: neither is the command glued to it, nor is it run for them, since it may be half of something.
  async put(text, enter) {
    await this.prompted;
    const stands = await this.#line();
    this.term.focus();
    if (stands === null) return `A command runs in ${this.facts.name}: press the button again when the prompt is back; Ctrl+C there stops the command.`;
    if (stands && stands !== text) {
      return `A line stands in ${this.facts.name} that was not ended: press Enter there to run it, or Ctrl+C to drop it. Then press the button again.`;
    }
    if (!stands) await this.insert(text);
    if (enter) this.press("\r");
    return "";
  }

  // What stands behind the prompt, null where a command runs; of a line that a background program has written into,
  // the server knows whether a command runs.
  async #line() {
    for (const until = performance.now() + LINE_MS; performance.now() < until;) {
      const whole = this.#shown();
      const prompt = whole.match(this.owner.prompt);
      if (prompt) return whole.slice(prompt[0].length).trim();
      await new Promise((done) => setTimeout(done, LINE_MS / 20));
    }
    const { runs, free } = await server.ask("GET", `terminals/${this.facts.id}`);
    if (free) return ""; // behind the output of a program that has not ended its last line
    return runs ? null : this.#shown().trim();
  }

  // The line in which the cursor is, which may take several rows.
  #shown() {
    const { active } = this.term.buffer;
    let first = active.baseY + active.cursorY, last = first;
    while (first > 0 && active.getLine(first)?.isWrapped) first -= 1;
    while (active.getLine(last + 1)?.isWrapped) last += 1;
    let whole = "";
    for (let row = first; row <= last; row += 1) whole += active.getLine(row)?.translateToString(row === last) ?? "";
    return `${whole} `; // that of the prompt is trimmed where nothing follows
  }

  // Send keys or a paste, in parts that the server takes; a part ends between two characters.
  press(keys) {
    if (keys.length > MOST_TYPED) {
      const [has, most] = [keys.length, MOST_TYPED].map((count) => count.toLocaleString("en-GB"));
      this.note(`This paste has ${has} characters and a terminal takes ${most} at once; save it as a file in the lab's folder instead.`);
      return;
    }
    for (let from = 0, to; from < keys.length; from = to) {
      to = Math.min(from + PART, keys.length);
      if (to < keys.length && keys.codePointAt(to - 1) > 0xffff) to -= 1;
      this.socket.deliver({ input: keys.slice(from, to) });
    }
  }

  interrupt() {
    this.press("\x03");
    this.term.focus();
  }

  async copy() {
    const text = this.term.getSelection();
    if (text) await navigator.clipboard.writeText(text).catch(() => this.note("The browser does not allow copying here."));
  }

  async paste() {
    const text = await navigator.clipboard.readText().catch(() => null);
    if (text === null) this.note("The browser does not allow reading the clipboard; use Ctrl+Shift+V.");
    else this.insert(text);
  }

  end() {
    this.socket.close();
    this.owner.drawing.forget(this);
    this.term.dispose();
    this.release();
  }
}

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
    if (this.tabs.chosen !== undefined) await server.ask("DELETE", `terminals/${this.tabs.chosen}`);
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
    this.context.announce(interrupt ? `Ctrl+C in ${name}.` : text ? `In terminal ${name}: ${text}${enter ? "" : ". Press Enter to run it."}` : `Terminal ${name}`);
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
