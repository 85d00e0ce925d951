// What live plots have been told so far, and numbers as people read them. No DOM here.

const UNITS = {
  "bit/s": [[1.5e9, 1e9, "Gbit/s"], [1.5e6, 1e6, "Mbit/s"], [1.5e3, 1e3, "kbit/s"], [0, 1, "bit/s"]],
  bytes: [[1.5e9, 1e9, "GB"], [1.5e6, 1e6, "MB"], [1e4, 1e3, "kB"], [0, 1, "bytes"]],
  s: [[2, 1, "s"], [2e-3, 1e-3, "ms"], [0, 1e-6, "µs"]],
};
const DASHES = [undefined, [8, 3], [3, 3], [8, 3, 2, 3]];
const MOST_POINTS = 12000;

// What to divide values by and the unit to print, as linklab/plots/palette.py has it.
export function unitOf(unit, largest) {
  const [, factor, name] = (UNITS[unit] || [[0, 1, unit]]).find(([least]) => largest >= least);
  return [factor, name];
}

export function numberText(value) {
  const size = Math.abs(value);
  return size >= 100 || value === 0 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

// A little room above the largest value; never nothing.
export function nice(largest) {
  return largest > 0 ? 1.12 * largest : 1;
}

// The second quantity of a thing (ssthresh, marks) is dotted; the ninth thing has the first colour and another pattern.
export function dashOf({ dashed, number }) {
  return dashed ? [1.5, 3] : DASHES[(number + Math.floor(number / 8)) % DASHES.length];
}

export class LiveStore {
  constructor() {
    this.panels = [];
    this.forget();
  }

  forget() {
    this.lines = new Map();
    this.points = new Map();
    this.levels = [];
    this.now = null;
    this.first = 0;
  }

  take(message) {
    if (message.panels) this.panels = message.panels;
    if (message.series) {
      this.lines = new Map(message.series.map((line) => [line.key, line]));
      for (const key of [...this.points.keys()]) if (!this.lines.has(key)) this.points.delete(key);
    }
    if (message.levels) this.levels = message.levels;
    for (const [key, part] of Object.entries(message.points || {})) this.#add(key, part);
    if (message.now !== undefined) this.now = message.now;
    if (message.points) this.first = Math.min(this.now ?? 0, ...[...this.points.values()].map(({ t }) => t[0] ?? Infinity));
  }

  #add(key, { from, whole, t, v }) {
    const kept = this.points.get(key);
    if (whole || !kept) {
      this.points.set(key, { next: from + t.length, t, v });
      return;
    }
    const over = kept.next - from;
    kept.t.length = kept.v.length = Math.max(0, kept.t.length - over);
    kept.t.push(...t);
    kept.v.push(...v);
    kept.next = from + t.length;
    if (kept.t.length > MOST_POINTS) {
      kept.t.splice(0, MOST_POINTS / 4);
      kept.v.splice(0, MOST_POINTS / 4);
    }
  }

  panel(name) {
    return this.panels.find((panel) => panel.name === name);
  }

  inPanel(name) {
    return [...this.lines.values()].filter(({ panel, key }) => panel === name && this.points.get(key)?.v.some((value) => value !== null));
  }

  // Times and values from `from` to `to`, with the values at both ends, so that a flat line that passes is seen.
  within(key, from, to) {
    const { t, v } = this.points.get(key) || { t: [], v: [] };
    const first = lower(t, from), last = lower(t, to + 1e-9);
    const times = t.slice(first, last), values = v.slice(first, last);
    if (first > 0 && first < t.length && times[0] !== from) {
      times.unshift(from);
      values.unshift(between(t, v, first, from));
    }
    if (last > 0 && last < t.length && times.at(-1) !== to && to > from) {
      times.push(to);
      values.push(between(t, v, last, to));
    }
    return [times, values];
  }

  valueAt(key, time) {
    const { t, v } = this.points.get(key) || { t: [], v: [] };
    const at = lower(t, time + 1e-9);
    if (at === 0 || (at === t.length && this.now !== null && time - t[at - 1] > 1.5 && v[at - 1] === null)) return null;
    return v[at - 1];
  }

  timesOf(lines, from, to) {
    const times = new Set(lines.flatMap(({ key }) => this.within(key, from, to)[0]));
    return [...times].sort((one, other) => one - other);
  }

  busiest(lines, [from, to]) {
    const most = (line) => this.within(line.key, from, to)[1].reduce((found, value) => Math.max(found, value ?? 0), 0);
    return lines.map((line) => [most(line), line]).sort(([one], [other]) => other - one).map(([, line]) => line);
  }
}

// Place of the first time that is not before `time`.
function lower(times, time) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

function between(t, v, place, time) {
  const before = v[place - 1], after = v[place];
  if (before === null || after === null) return null;
  return before + ((after - before) * (time - t[place - 1])) / (t[place] - t[place - 1]);
}
