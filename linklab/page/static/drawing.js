// Draws what all terminals of the page print, one piece after the other; where several print, in at most half of the
// page's time. With eight that print without end, each drawn by itself, a click waited two seconds for its turn.

const PIECE = 32 * 2 ** 10; // bytes, which xterm.js takes in some 8 ms
const MOST_REST_MS = 50;

export class Drawing {
  // front: gives the terminal that is seen, which has every other piece.
  constructor(front) {
    this.front = front;
    this.waiting = new Map(); // terminal → what it has to draw, first the one that has waited longest
    this.runs = false;
    this.turn = false;
  }

  add(terminal, bytes) {
    if (!this.waiting.has(terminal)) this.waiting.set(terminal, { clear: false, parts: [] });
    this.waiting.get(terminal).parts.push(bytes);
    if (!this.runs) this.#run();
  }

  // Clear the terminal before it draws what is added from now on; what it had yet to draw is left out.
  reset(terminal) {
    this.waiting.set(terminal, { clear: true, parts: [] });
    if (!this.runs) this.#run();
  }

  forget(terminal) {
    this.waiting.delete(terminal);
  }

  async #run() {
    this.runs = true;
    while (this.waiting.size) {
      const begun = performance.now();
      await this.#draw(this.#next());
      const took = performance.now() - begun;
      if (this.waiting.size > 1) await new Promise((done) => setTimeout(done, Math.min(took, MOST_REST_MS)));
    }
    this.runs = false;
  }

  #next() {
    this.turn = !this.turn;
    const front = this.front();
    return this.turn && this.waiting.has(front) ? front : this.waiting.keys().next().value;
  }

  // A piece of what the terminal has to draw; for the rest it waits behind all others.
  async #draw(terminal) {
    const { clear, parts } = this.waiting.get(terminal);
    this.waiting.delete(terminal);
    let many = 0, size = 0;
    while (many < parts.length && size < PIECE) size += parts[many++].length;
    if (many < parts.length) this.waiting.set(terminal, { clear: false, parts: parts.slice(many) });
    if (clear) terminal.clear();
    if (many) await terminal.draw(joined(parts.slice(0, many), size));
  }
}

function joined(parts, size) {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
