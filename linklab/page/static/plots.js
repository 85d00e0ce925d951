// Live plots: panels over one axis of network time, as linklab/live/messages.py tells them ten times a second.
import { make } from "./elements.js";
import { LiveChart } from "./plot-chart.js";
import { LiveStore } from "./plot-data.js";
import * as server from "./server.js";

const SPANS = [[10, "10 s"], [30, "30 s"], [60, "1 min"], [300, "5 min"], [0, "all"]];
const SHOWN_FIRST = ["rate", "queue", "cwnd", "rtt"];
const MOST_SHOWN = 12; // lines of a panel, before somebody chooses
const TABLE_MS = 1000;
const NOTHING_SHOWN = "Nothing is drawn yet. Rates and queues appear when packets are on their way, congestion windows while " +
  "TCP sends, and round-trip times while ping runs; “Choose panels and lines” lists what there is.";

export async function start(element, context) {
  const style = make("link", { rel: "stylesheet", href: server.at("static/plots.css") });
  document.head.append(style);
  const { default: UPlot } = await import(server.at("built/uplot.mjs"));
  return new LivePlots(element, context, UPlot);
}

class LivePlots {
  constructor(element, context, UPlot) {
    Object.assign(this, { element, context, UPlot });
    this.store = new LiveStore();
    this.charts = new Map();
    this.chosen = new Set(SHOWN_FIRST);
    this.asked = new Map(); // key of a line: whether somebody wants it
    this.span = 30;
    this.end = null; // network time at the right; null follows
    this.cursor = null;
    this.#build();
    this.socket = server.socket("live", {
      onMessage: (message) => this.#take(JSON.parse(message)),
      onOpen: () => {
        this.store.forget();
        this.watching = false;
        this.#watch();
      },
    });
    new IntersectionObserver(() => this.#watch()).observe(element);
    document.addEventListener("visibilitychange", () => this.#watch());
    new ResizeObserver(() => this.#resize()).observe(this.panels);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#rebuild());
    setInterval(() => this.#fillTables(), TABLE_MS);
  }

  get visible() {
    return !document.hidden && this.element.offsetParent !== null && this.element.getClientRects().length > 0;
  }

  // Tell the server whether anybody sees the plots: if not, nothing is read from the network.
  #watch() {
    if (this.watching === this.visible) return;
    this.watching = this.visible;
    this.socket.send({ watch: this.watching });
    if (this.watching) this.#soon();
  }

  #build() {
    this.follow = make("button", { type: "button", "aria-pressed": "true", onclick: () => this.#setEnd(this.end === null ? this.store.now : null, true) }, "Follow");
    const spans = make("select", { "aria-label": "Length of the time shown", onchange: (event) => {
      this.span = Number(event.target.value);
      this.#soon();
    } }, ...SPANS.map(([seconds, text]) => make("option", { value: seconds, selected: seconds === this.span }, text)));
    this.range = make("input", { type: "range", min: 0, max: 1, step: "any", "aria-label": "Scroll back: network time at the right end",
      oninput: (event) => this.#setEnd(Number(event.target.value)) });
    this.state = make("span", { role: "status", class: "state" }, "Waiting for the network.");
    this.choices = make("div");
    const choose = make("details", { class: "choices" }, make("summary", {}, "Choose panels and lines"), this.choices);
    const save = (kind, text) => make("button", { type: "button", onclick: () => this.#save(kind) }, text);
    this.readout = make("p", { class: "at" }); // a chart tells it by its own value
    this.none = make("p", { class: "none" }, NOTHING_SHOWN);
    this.panels = make("div");
    this.element.append(make("div", { class: "plots" },
      make("div", { class: "bar" }, this.follow, make("label", {}, "Show", spans), this.range, save("svg", "Save SVG"), save("flent.gz", "Save data"), this.state),
      choose, this.readout, this.none, this.panels));
  }

  #take(message) {
    this.store.take(message);
    if (message.state) this.#sayState(message);
    if (message.series || message.panels) this.#fillChoices();
    this.#soon();
  }

  #sayState({ state, why }) {
    const texts = { reading: "", waiting: "Readings begin when the network's time goes on.", ended: `Readings have ended: ${why}` };
    this.state.textContent = texts[state];
  }

  // byButton: by Follow, of which a reader tells whether it is pressed.
  #setEnd(end, byButton = false) {
    if (this.end === null && end !== null && !byButton) {
      this.context.announce(`The plots stand still at ${end.toFixed(1)} s; the button Follow lets them go on.`);
    }
    this.end = end;
    this.follow.setAttribute("aria-pressed", String(end === null));
    this.#soon();
  }

  #soon() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      if (this.visible) this.#draw();
    });
  }

  get window() {
    const { first } = this.store, to = this.end ?? this.store.now ?? 1;
    if (this.span === 0) return [first, Math.max(to, first + 0.001)];
    return to - first < this.span ? [first, first + this.span] : [to - this.span, to];
  }

  // --- what is shown

  linesOf(panel) {
    const all = this.store.inPanel(panel);
    const shown = all.filter((line) => this.#isShown(line));
    if (this.asked.size || shown.length <= MOST_SHOWN) return shown;
    return this.store.busiest(shown, this.window).slice(0, MOST_SHOWN);
  }

  #isShown({ key, minor }) {
    return this.asked.get(key) ?? !minor;
  }

  #fillChoices() {
    const open = document.activeElement?.dataset?.choice;
    const tick = (text, checked, change, id) => make("label", {},
      make("input", { type: "checkbox", checked, "data-choice": id, onchange: (event) => change(event.target.checked) }), text);
    const panels = this.store.panels.map(({ name, words }) =>
      tick(words, this.chosen.has(name), (on) => {
        if (on) this.chosen.add(name);
        else this.chosen.delete(name);
        this.#soon();
      }, `panel ${name}`));
    const groups = this.store.panels.filter(({ name }) => this.store.inPanel(name).length).map(({ name, words }) =>
      make("fieldset", {}, make("legend", {}, words), ...this.store.inPanel(name).map((line) =>
        tick(line.label, this.#isShown(line), (on) => {
          this.asked.set(line.key, on);
          this.#soon();
        }, line.key))));
    this.choices.replaceChildren(make("fieldset", {}, make("legend", {}, "Panels"), ...panels), ...groups);
    if (open) this.choices.querySelector(`[data-choice="${CSS.escape(open)}"]`)?.focus();
  }

  // --- drawing

  #draw() {
    const [from, to] = this.window;
    this.range.min = this.store.first;
    this.range.max = this.store.now ?? 1;
    if (this.end === null) this.range.value = this.range.max;
    this.range.setAttribute("aria-valuetext", this.end === null ? "now" : `${this.end.toFixed(1)} s`);
    for (const { name } of this.store.panels) {
      const lines = this.chosen.has(name) ? this.linesOf(name) : [];
      if (lines.length) this.#chart(name, lines).draw(lines, from, to);
      else if (this.charts.has(name)) this.#drop(name);
    }
    this.none.textContent = this.charts.size ? "" : NOTHING_SHOWN;
    this.none.hidden = this.charts.size > 0;
  }

  #chart(name, lines) {
    const looks = lines.map(({ key }) => key).join("\n");
    const kept = this.charts.get(name);
    if (kept?.looks === looks) return kept;
    const had = kept?.element.contains(document.activeElement) && document.activeElement.className;
    const chart = new LiveChart(this, this.store.panel(name), lines, looks);
    if (kept) kept.replaceBy(chart);
    else {
      this.charts.set(name, chart);
      const order = this.store.panels.map((panel) => panel.name);
      const after = [...this.charts.keys()].filter((other) => order.indexOf(other) > order.indexOf(name));
      const next = after.sort((one, other) => order.indexOf(one) - order.indexOf(other))[0];
      this.panels.insertBefore(chart.element, next ? this.charts.get(next).element : null);
    }
    this.charts.set(name, chart);
    if (had) chart.element.querySelector(".chart")?.focus();
    return chart;
  }

  #drop(name) {
    this.charts.get(name).end();
    this.charts.delete(name);
  }

  #resize() {
    for (const chart of this.charts.values()) chart.resize();
  }

  #rebuild() {
    for (const name of [...this.charts.keys()]) this.#drop(name);
    this.#soon();
  }

  // --- one moment in all panels

  moveCursor(time) {
    this.cursor = time;
    for (const chart of this.charts.values()) chart.showCursor();
    const parts = [...this.charts.values()].flatMap((chart) => chart.valuesAt(time));
    this.readout.textContent = time === null ? "" : `At ${time.toFixed(3)} s: ${parts.join("; ") || "nothing"}`;
  }

  // Move by so many of the moments that these lines have in the window; to its ends by -Infinity and Infinity.
  stepCursor(by, lines) {
    const [from, to] = this.window;
    const at = this.cursor === null || this.cursor < from || this.cursor > to ? Math.min(to, this.store.now) : this.cursor;
    if (this.end === null) this.#setEnd(this.store.now); // what one reads must not move away
    const times = this.store.timesOf(lines, from, to);
    const before = times.filter((time) => time < at - 1e-9), after = times.filter((time) => time > at + 1e-9);
    const next = by > 0 ? after[Math.min(by, after.length) - 1] : before[Math.max(before.length + by, 0)];
    this.moveCursor(next ?? at);
  }

  #fillTables() {
    if (!this.visible) return;
    for (const chart of this.charts.values()) chart.fillTable();
  }

  #save(kind) {
    const [from, to] = this.window;
    const query = new URLSearchParams({ from: String(from), to: String(to) });
    for (const { name } of this.store.panels) {
      if (this.chosen.has(name)) for (const { key } of this.linesOf(name)) query.append("key", key);
    }
    const link = make("a", { href: server.at(`live.${kind}?${query}`), download: "" });
    document.body.append(link);
    link.click();
    link.remove();
    this.context.announce(kind === "svg" ? "The picture is being saved." : "The data set is being saved; linklab view opens it.");
  }
}
