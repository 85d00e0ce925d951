// What a screen reader hears of a terminal: each line once, as a program completes it, and what stands on the line of the
// cursor when the program rests, such as a prompt. Of what is typed the reader tells each key itself. xterm.js's own live
// region holds all lines since the last key, of which a reader says every one again with each that is added.
import { lineAt, lineOfCursor } from "./terminal-lines.js";

const MOST_LINES = 20; // after a key; nobody listens to more, and the reader would be minutes behind the program
const MOST_TYPED = 20; // lines: a program need not show them, as with a password
const REST_MS = 250;
const TOO_MUCH = "There is more output than is read aloud; F7 shows it as text.";
const FULL_SCREEN = "This program fills the screen; F7 shows it as text.";
const RECALL = ["\x1b[A", "\x1b[B", "\x1bOA", "\x1bOB", "\x10", "\x0e"]; // up, down, Ctrl+P, Ctrl+N

export class Voice {
  // prompt: what a prompt at the begin of a line looks like; say: takes a text that is to be read aloud.
  constructor(term, prompt, say) {
    Object.assign(this, { term, prompt, say });
    this.on = false;
    this.replayed = 0; // bytes yet to be drawn that were shown before
    this.#begin();
    term.onLineFeed(() => this.#lineEnds());
    term.onWriteParsed(() => this.#waitForRest());
    term.buffer.onBufferChange(({ type }) => {
      if (this.#talks() && type === "alternate") this.say(FULL_SCREEN);
    });
  }

  // Begin or end to talk; what stands on the screen already is not told.
  talk(yes) {
    if (yes && !this.on) this.#begin();
    this.on = yes;
  }

  // So many bytes that come next were shown before.
  replays(count) {
    this.replayed = count;
  }

  drew(count) {
    if (!this.replayed) return;
    this.replayed = Math.max(0, this.replayed - count);
    if (!this.replayed) this.heard = lineOfCursor(this.term.buffer.active);
  }

  // Keys that go to the program.
  pressed(keys) {
    if (!this.on) return;
    this.lines = 0;
    if (keys === "\r" || keys === "\n") this.typed = [...this.typed.slice(-MOST_TYPED), ""];
    else if (keys === "\x7f") this.typed.push(this.typed.pop().slice(0, -1));
    else if (!/\p{Control}/u.test(keys)) this.typed.push(this.typed.pop() + keys);
    else {
      this.typed = [""];
      this.changed = true;
      this.recalled = RECALL.includes(keys);
    }
  }

  // What the page puts on the line and tells by itself, as if it had been typed.
  knows(text) {
    if (this.on) this.typed = text.split("\n");
  }

  #talks() {
    return this.on && !this.replayed;
  }

  #begin() {
    this.heard = lineOfCursor(this.term.buffer.active); // of the line of the cursor, as far as it is known
    this.typed = [""]; // lines typed that the program has not shown yet, the last one without its Enter
    this.changed = this.recalled = false; // by a key that a reader does not tell, such as Tab
    this.lines = 0;
  }

  #waitForRest() {
    clearTimeout(this.resting);
    if (this.#talks()) this.resting = setTimeout(() => this.#rests(), REST_MS);
  }

  #lineEnds() {
    const { active } = this.term.buffer;
    if (!this.#talks() || active.type === "alternate") return;
    const before = this.heard;
    this.heard = "";
    if (this.lines > MOST_LINES) return;
    const line = lineAt(active, active.baseY + active.cursorY - 1);
    let news = line.startsWith(before) ? line.slice(before.length) : line;
    const at = this.typed.findIndex((typed) => typed && news.endsWith(typed));
    if (at >= 0) {
      news = news.slice(0, -this.typed[at].length);
      this.typed.splice(0, at);
      this.typed[0] = "";
    }
    if (!this.typed[0] && this.typed.length > 1) this.typed.shift();
    if (!news.trim()) return;
    this.lines += 1;
    this.say(this.lines > MOST_LINES ? TOO_MUCH : news.trim());
  }

  #rests() {
    const { active } = this.term.buffer;
    if (!this.#talks() || active.type === "alternate") return;
    const { heard, changed, recalled } = this, line = lineOfCursor(active);
    this.heard = line;
    this.changed = this.recalled = false;
    if (line === heard) return;
    const told = this.#untyped(this.#news(line, heard, changed, recalled)).trim();
    if (told) this.say(told);
  }

  #news(line, heard, changed, recalled) {
    const behind = `${line} `.replace(this.prompt, "").trim();
    if (recalled) return behind;
    if (line.startsWith(heard)) return line.slice(heard.length);
    return changed && !heard.startsWith(line) ? behind : ""; // not what was erased, or a progress bar
  }

  // Without what was typed, of which the program may have shown only the begin yet.
  #untyped(news) {
    const own = `${news} `.replace(this.prompt, "").trim(), last = this.typed.length - 1;
    for (const [at, typed] of this.typed.entries()) {
      for (let many = typed.length; many > 0; many -= 1) {
        const part = typed.slice(0, many);
        const shows = at === last || many === typed.length ? news.endsWith(part) : own && own === part.trim();
        if (!shows) continue;
        this.typed[at] = typed.slice(many);
        return news.slice(0, news.lastIndexOf(part.trim()));
      }
    }
    return news;
  }
}
