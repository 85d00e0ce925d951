// One terminal of the page: its tab, its panel, its screen of xterm.js, and its socket, which survives a reload of the page.
import { make } from "./elements.js";
import * as server from "./server.js";
import { lineOfCursor } from "./terminal-lines.js";
import { Output } from "./terminal-output.js";
import { Voice } from "./terminal-voice.js";

const FONT_PX = [13, 12, 11]; // the first that leaves room for COLUMNS; the first of all where none does
const COLUMNS = 80; // what programs take a line to be: a report of iperf3 has 80 letters in each
const SHOWN_MS = 8;
const PROMPT_MS = 3000;
const LINE_MS = 1500;
const MOST_TYPED = 4 * 2 ** 20; // letters at once; in UTF-8 no more than attach_server.py keeps for a program that does not read
const PART = 64 * 2 ** 10; // letters of a message: at six bytes each still less than the server takes
const ENDED = "This terminal has ended; close its tab or open another one.";
const SILENT = "To have it read aloud, press Shift+Tab and tick Screen reader.";
const READ = "F7 shows its output as text.";
const LOST = "The connection to the lab's program is lost; what you type is sent when it is back.";

let Terminal, FitAddon, WebLinksAddon;

export async function load() {
  [{ Terminal }, { FitAddon }, { WebLinksAddon }] = await Promise.all(
    ["xterm.mjs", "xterm-fit.mjs", "xterm-web-links.mjs"].map((name) => import(server.at(`built/${name}`))),
  );
}

export function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return {
    background: of("--term-bg"), foreground: of("--term-fg"), cursor: of("--term-fg"), cursorAccent: of("--term-bg"),
    selectionBackground: of("--term-selection"),
  };
}

export class Screen {
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
      fontSize: FONT_PX[0], fontFamily: "ui-monospace, 'DejaVu Sans Mono', 'Liberation Mono', monospace", scrollback: 5000,
      screenReaderMode: owner.screenReader, theme: colours(), minimumContrastRatio: 4.5,
    });
    this.fit = new FitAddon();
    this.term.loadAddon(this.fit);
    this.term.loadAddon(new WebLinksAddon((_, address) => window.open(address, "_blank", "noopener")));
    this.voice = new Voice(this.term, owner.prompt, (text) => owner.say(text));
    this.output = new Output(this.panel, facts.name, this.term, owner.prompt, () => this.term.focus());
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
    if (said.reset !== undefined) {
      this.kept = said.reset;
      this.owner.drawing.reset(this);
    }
    if (said.notice) this.note(said.notice);
    if (said.closed) this.note(ENDED);
  }

  clear() {
    this.term.reset();
    this.voice.replays(this.kept);
  }

  // Draw bytes; resolved when they are drawn, or the terminal is closed.
  draw(bytes) {
    return new Promise((done) => {
      this.release = done;
      this.term.write(bytes, () => {
        this.#drew(bytes.length);
        this.voice.drew(bytes.length);
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
    this.term.textarea?.setAttribute("aria-description", yes ? READ : SILENT);
    this.panel.querySelector(".xterm-accessibility-tree")?.setAttribute("aria-label", `Screen of ${this.facts.name}`);
    const own = this.panel.querySelector(".live-region"); // of xterm.js, whose part the voice has
    own?.setAttribute("aria-live", "off");
    own?.setAttribute("aria-hidden", "true");
    this.#talk(this.panel.contains(document.activeElement));
  }

  // A terminal talks where the focus is; what a program prints in another would interrupt all that is read.
  #talk(yes) {
    this.voice.talk(yes && this.owner.screenReader);
  }

  // xterm.js learns by an IntersectionObserver that it is shown again, before this page does by its own, which is younger.
  // A size that it is given earlier it keeps for later, and what is printed meanwhile scrolls by the old one, for good.
  fitted() {
    if (!this.drawing || this.screen.clientWidth <= 20 || this.screen.clientHeight <= 20) return;
    const fits = FONT_PX.find((size) => {
      this.term.options.fontSize = size;
      return this.fit.proposeDimensions()?.cols >= COLUMNS;
    });
    if (fits === undefined) [this.term.options.fontSize] = FONT_PX;
    this.fit.fit();
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
    this.voice.knows(text);
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

  // The line in which the cursor is; the space of a prompt behind which nothing follows is trimmed.
  #shown() {
    return `${lineOfCursor(this.term.buffer.active)} `;
  }

  // Send keys or a paste, in parts that the server takes; a part ends between two characters.
  press(keys) {
    if (keys.length > MOST_TYPED) {
      const [has, most] = [keys.length, MOST_TYPED].map((count) => count.toLocaleString("en-GB"));
      this.note(`This paste has ${has} characters and a terminal takes ${most} at once; save it as a file in the lab's folder instead.`);
      return;
    }
    this.voice.pressed(keys);
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
