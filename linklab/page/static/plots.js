// Live plots: panels over one axis of network time, as linklab/live/messages.py tells them ten times a second.
import { make } from "./elements.js";
import { dashOf, LiveStore, nice, numberText, unitOf } from "./plot-data.js";
import * as server from "./server.js";

const SPANS = [[10, "10 s"], [30, "30 s"], [60, "1 min"], [300, "5 min"], [0, "all"]];
const SHOWN_FIRST = ["rate", "queue", "cwnd", "rtt"];
const HEIGHT = 160;
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
    this.follow = make("button", { type: "button", "aria-pressed": "true", onclick: () => this.#setEnd(this.end === null ? this.store.now : null) }, "Follow");
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
    this.readout = make("p", { class: "at", role: "status", "aria-live": "polite" });
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

  #setEnd(end) {
    this.end = end;
    this.follow.setAttribute("aria-pressed", String(end === null));
    this.follow.textContent = end === null ? "Following" : "Follow";
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

  moveCursor(time, speak) {
    this.cursor = time;
    for (const chart of this.charts.values()) chart.showCursor();
    if (!speak) return;
    const parts = [...this.charts.values()].flatMap((chart) => chart.valuesAt(time));
    this.readout.textContent = time === null ? "" : `At ${time.toFixed(3)} s: ${parts.join("; ") || "nothing"}`;
  }

  stepCursor(by, lines) {
    const [from, to] = this.window;
    const at = this.cursor === null || this.cursor < from || this.cursor > to ? Math.min(to, this.store.now) : this.cursor;
    if (this.end === null) this.#setEnd(this.store.now); // what one reads must not move away
    const times = this.store.timesOf(lines, from, to);
    const next = by > 0 ? times.find((time) => time > at + 1e-9) : times.findLast((time) => time < at - 1e-9);
    this.moveCursor(next ?? at, true);
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

class LiveChart {
  constructor(owner, panel, lines, looks) {
    Object.assign(this, { owner, panel, lines, looks });
    this.colours = lines.map(({ number }) => cssColour(number));
    this.chart = make("div", { class: "chart", tabindex: "0", role: "img", onkeydown: (event) => this.#key(event) });
    this.unit = make("span", {});
    this.table = make("tbody");
    this.behind = make("details", {}, make("summary", {}, `Last values: ${panel.words}`),
      make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Line"), make("th", { scope: "col" }, "Last value"), make("th", { scope: "col" }, "Largest shown"))), this.table));
    this.behind.addEventListener("toggle", () => this.fillTable());
    const keys = lines.map((line, at) => make("span", { class: "key" }, sample(line, this.colours[at]), line.label));
    this.element = make("figure", {}, make("figcaption", {}, make("span", {}, panel.words, " ", this.unit), ...keys), this.chart, this.behind);
  }

  draw(lines, from, to) {
    this.lines = lines;
    [this.from, this.to] = [from, to];
    const { store, UPlot } = this.owner;
    const parts = lines.map(({ key }) => store.within(key, from, to));
    this.largest = Math.max(0, ...parts.map(([, values]) => values.reduce((most, value) => (value > most ? value : most), 0)));
    const near = store.levels.filter(({ panel, of, value }) => panel === this.panel.name && value <= 1.6 * this.largest && lines.some((line) => line.of === of));
    this.levels = near;
    this.top = nice(Math.max(this.largest, ...near.map(({ value }) => value)));
    [this.scale, this.unitText] = unitOf(this.panel.unit, this.largest);
    this.unit.textContent = this.unitText === "" ? "" : `(${this.unitText})`;
    const data = UPlot.join(parts);
    if (!this.plot) this.#make(data);
    else this.plot.setData(data, false);
    this.plot.batch(() => {
      this.plot.setScale("x", { min: from, max: to });
      this.plot.setScale("y", { min: 0, max: this.top });
    });
    this.showCursor();
    this.chart.setAttribute("aria-label", this.#summary());
  }

  #make(data) {
    const css = getComputedStyle(document.documentElement);
    const fg = css.getPropertyValue("--fg"), rule = css.getPropertyValue("--rule") || css.getPropertyValue("--border");
    const axis = { stroke: fg, grid: { stroke: rule, width: 1 }, ticks: { stroke: rule, width: 1 }, font: "12px system-ui, sans-serif" };
    const series = this.lines.map((line, at) => ({
      label: line.label, stroke: this.colours[at], width: line.dashed ? 1.2 : 1.8, dash: dashOf(line), points: { show: false }, spanGaps: false,
    }));
    this.plot = new this.owner.UPlot({
      width: this.#width(), height: HEIGHT, legend: { show: false }, scales: { x: { time: false, auto: false }, y: { auto: false } },
      series: [{}, ...series],
      axes: [{ ...axis, size: 28, values: (_, ticks) => ticks.map((tick) => `${Number(tick.toFixed(6))} s`) },
        { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => numberText(tick / this.scale)) }],
      cursor: { drag: { x: false, y: false }, points: { show: false } },
      hooks: { draw: [(plot) => this.#drawLevels(plot)], setCursor: [(plot) => this.#pointed(plot)] },
    }, data, this.chart);
  }

  #width() {
    return Math.max(200, this.owner.panels.clientWidth || 600);
  }

  resize() {
    this.plot?.setSize({ width: this.#width(), height: HEIGHT });
  }

  #drawLevels(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "right";
    ctx.lineWidth = devicePixelRatio;
    let last = Infinity;
    for (const { label, value, number } of [...this.levels].sort((one, other) => one.value - other.value)) {
      const y = plot.valToPos(value, "y", true);
      ctx.strokeStyle = ctx.fillStyle = cssColour(number);
      ctx.setLineDash([7 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      // above its line, or below where there is no room; words that would lie on each other are moved up
      const above = y - 5 * devicePixelRatio, fits = above - 10 * devicePixelRatio >= bbox.top;
      const place = Math.min(fits ? above : y + 13 * devicePixelRatio, last - 13 * devicePixelRatio);
      ctx.fillText(`${label}: ${this.text(value)}`, bbox.left + bbox.width - 4 * devicePixelRatio, place);
      last = place;
    }
    if (this.owner.cursor !== null && this.owner.cursor >= this.from && this.owner.cursor <= this.to) {
      const x = plot.valToPos(this.owner.cursor, "x", true);
      ctx.setLineDash([]);
      ctx.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--focus");
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  // --- cursor

  #pointed(plot) {
    const left = plot.cursor.left;
    if (this.keys || left === undefined || left < 0 || !this.chart.matches(":hover")) return;
    const time = plot.posToVal(left, "x");
    if (Math.abs(time - (this.owner.cursor ?? NaN)) > 1e-9 || this.owner.cursor === null) this.owner.moveCursor(time, true);
  }

  #key(event) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) this.owner.stepCursor(by, this.lines);
    else if (event.key === "Escape") this.owner.moveCursor(null, true);
    else return;
    event.preventDefault();
  }

  showCursor() {
    this.plot?.redraw(false, false);
  }

  text(value) {
    return `${numberText(value / this.scale)} ${this.unitText}`.trim();
  }

  valuesAt(time) {
    if (time === null) return [];
    return this.lines.map((line) => [line, this.owner.store.valueAt(line.key, time)])
      .filter(([, value]) => value !== null).map(([line, value]) => `${line.label} ${this.text(value)}`);
  }

  #summary() {
    const now = this.lines.map((line) => [line, this.owner.store.valueAt(line.key, Math.min(this.to, this.owner.store.now))]).filter(([, value]) => value !== null);
    const values = now.map(([line, value]) => `${line.label} ${this.text(value)}`).join(", ");
    return `${this.panel.words} from ${this.from.toFixed(1)} s to ${Math.min(this.to, this.owner.store.now).toFixed(1)} s. ${values || "Nothing now"}. Arrow keys read values; a table follows.`;
  }

  fillTable() {
    if (!this.behind.open || this.scale === undefined) return;
    const rows = this.lines.map((line) => {
      const last = this.owner.store.valueAt(line.key, Math.min(this.to, this.owner.store.now));
      const [, values] = this.owner.store.within(line.key, this.from, this.to);
      const most = values.reduce((found, value) => (value !== null && (found === null || value > found) ? value : found), null);
      return make("tr", {}, make("th", { scope: "row" }, line.label), make("td", { class: "number" }, last === null ? "–" : this.text(last)), make("td", { class: "number" }, most === null ? "–" : this.text(most)));
    });
    const levels = this.owner.store.levels.filter(({ panel, of }) => panel === this.panel.name && this.lines.some((line) => line.of === of))
      .map(({ label, value }) => make("tr", {}, make("th", { scope: "row" }, label), make("td", { class: "number" }, this.text(value)), make("td", {})));
    this.table.replaceChildren(...rows, ...levels);
  }

  replaceBy(other) {
    const open = this.behind.open;
    this.element.replaceWith(other.element);
    other.behind.open = open;
    this.plot?.destroy();
  }

  end() {
    this.plot?.destroy();
    this.element.remove();
  }
}

function cssColour(number) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--series-${(number % 8) + 1}`).trim();
}

// A short piece of the line, for the legend.
function sample(line, colour) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 32 10");
  svg.setAttribute("aria-hidden", "true");
  const stroke = document.createElementNS(ns, "line");
  for (const [name, value] of Object.entries({ x1: 0, x2: 32, y1: 5, y2: 5, stroke: colour, "stroke-width": line.dashed ? 1.5 : 2.5 })) stroke.setAttribute(name, value);
  const dash = dashOf(line);
  if (dash) stroke.setAttribute("stroke-dasharray", dash.join(" "));
  svg.append(stroke);
  return svg;
}
