// What a terminal shows as text in a field, where the keys of every editor move, and a screen reader reads by line, word,
// and letter: F7. It does not change while it is read.
import { make } from "./elements.js";
import { allLines } from "./terminal-lines.js";

export class Output {
  // back: called when the reader goes back to the terminal.
  constructor(panel, name, term, prompt, back) {
    Object.assign(this, { name, term, prompt, back });
    this.area = make("textarea", {
      class: "output", "aria-readonly": "true", hidden: true, spellcheck: "false", "aria-description": "Escape goes back to the terminal.",
    });
    this.area.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#leave();
    });
    this.area.addEventListener("beforeinput", (event) => event.preventDefault()); // in a readonly field Chromium moves no caret
    this.area.addEventListener("blur", () => {
      if (document.activeElement !== this.area) this.area.hidden = true; // and not the whole window, which comes back to it
    });
    panel.append(this.area);
  }

  // Show it, or go back. It begins with the command that was typed last.
  toggle() {
    if (!this.area.hidden) {
      this.#leave();
      return;
    }
    const lines = allLines(this.term.buffer.active);
    const last = lines.findLastIndex((line) => this.prompt.test(line) && line.replace(this.prompt, ""));
    const before = lines.slice(0, Math.max(last, 0)).reduce((sum, line) => sum + line.length + 1, 0);
    this.area.value = lines.join("\n");
    this.area.setAttribute("aria-label", `Output of ${this.name}, ${lines.length} line${lines.length === 1 ? "" : "s"}`);
    this.area.hidden = false;
    this.area.focus();
    this.area.setSelectionRange(before, before);
    this.area.scrollTop = (this.area.scrollHeight * Math.max(last, 0)) / Math.max(lines.length, 1);
  }

  #leave() {
    this.area.hidden = true;
    this.back();
  }
}
