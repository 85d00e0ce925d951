// A chart of the live plots.
import { make } from "./elements.js";
import { dashOf, nice, numberText, unitOf } from "./plot-data.js";

const HEIGHT = 160;
const PAGE = 10; // moments
const KEYS = "Arrow keys, Page Up, Page Down, Home, and End read the values of other moments, Escape those of now; a table follows.";

// One panel: its lines, its legend, a slider of the moments that they have, and a table of the last values.
export class LiveChart {
  constructor(owner, panel, lines, looks) {
    Object.assign(this, { owner, panel, lines, looks });
    this.colours = lines.map(({ number }) => cssColour(number));
    this.chart = make("div", {
      class: "chart", tabindex: "0", role: "slider", "aria-label": panel.words, "aria-description": KEYS,
      onkeydown: (event) => this.#key(event), onfocus: () => this.#tell(),
    });
    this.unit = make("span", {});
    this.table = make("tbody");
    this.behind = make("details", {}, make("summary", {}, `Last values: ${panel.words}`),
      make("table", { "aria-label": `Last values: ${panel.words}` }, make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Line"), make("th", { scope: "col" }, "Last value"), make("th", { scope: "col" }, "Largest shown"))), this.table));
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
    if (document.activeElement !== this.chart) this.#tell();
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
    if (Math.abs(time - (this.owner.cursor ?? NaN)) > 1e-9 || this.owner.cursor === null) this.owner.moveCursor(time);
  }

  #key(event) {
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -PAGE, PageUp: PAGE, Home: -Infinity, End: Infinity }[event.key];
    if (by) this.owner.stepCursor(by, this.lines);
    else if (event.key === "Escape") this.owner.moveCursor(null);
    else return;
    event.preventDefault();
    this.#tell();
  }

  // What a reader is told of the chart: the moment of the cursor, or else the newest. While the chart has the focus it
  // changes by keys alone, since a reader tells each change.
  #tell() {
    if (this.to === undefined) return;
    const newest = Math.min(this.to, this.owner.store.now);
    const { cursor } = this.owner, shown = cursor !== null && cursor >= this.from && cursor <= this.to;
    const time = shown ? cursor : newest;
    const values = this.valuesAt(time).join(", ") || "nothing";
    const told = { valuemin: this.from, valuemax: Math.max(newest, this.from), valuenow: time, valuetext: `At ${time.toFixed(3)} s: ${values}` };
    for (const [name, value] of Object.entries(told)) this.chart.setAttribute(`aria-${name}`, value);
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
