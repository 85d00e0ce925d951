// SPDX-License-Identifier: BSD-3-Clause
// Tables of results that a reader can sort, filter, cut to some columns and scale, with the keyboard and offline.
// It works on every <div class="grid"> with a <table> in it. A cell's data-v is its number; without one it is text.
// A head with data-id is of a column that names its rows, which is neither scaled nor compared.
// The pure functions at the top are tested with Node.js.
"use strict";

const OPERATOR = /==|!=|>=|<=|<>|>|<|\[has\]|\[hasnot\]/gi;
const SIZE = /^(\d{1,12}(?:\.\d{1,12})?)\s*([kmg]?)(?:i?b|bit|bps)?$/i;
const SUFFIXES = { "": 1, k: 1e3, m: 1e6, g: 1e9 };
const ITERATION = "exp"; // experiment and, after the point, group: 7 is 7.0, and 7.10 is not 7.1
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// A cell is {text, number}, number null where it is none.
function same(one, text) {
  const other = NUMBER.test(text) ? Number(text) : null;
  if (one.number !== null && other !== null) {
    return Math.abs(one.number - other) <= 1e-12 * Math.max(Math.abs(one.number), Math.abs(other));
  }
  return one.text === text;
}

function unquoted(text) {
  const quoted = /^'([^']*)'$|^"([^"]*)"$/.exec(text.trim());
  return quoted ? quoted[1] ?? quoted[2] : text.trim();
}

// The parts between marks, as `Located.split` in Python has them: one in quotes may hold the mark.
function parts(text, mark) {
  const found = [];
  let start = 0, quote = "", before = "";
  [...text].reduce((index, letter) => {
    if (quote) quote = letter === quote ? "" : quote;
    else if ("'\"".includes(letter) && (!before || "=<>]:!".includes(before)) && text.indexOf(letter, index + 1) > 0) {
      quote = letter;
    } else if (letter === mark) {
      found.push(text.slice(start, index));
      start = index + 1;
      before = "";
      return index + letter.length;
    }
    if (letter.trim()) before = letter;
    return index + letter.length;
  }, 0);
  return [...found, text.slice(start)];
}

function iterationOf(text) {
  const [, experiment, group] = /^([^.]*)\.?(.*)$/s.exec(text.trim());
  return [experiment, group.replace(/^0+/, "") || "0"];
}

function sameIteration(one, other) {
  return iterationOf(one).join(".") === iterationOf(other).join(".");
}

// One condition, such as ca==bbr or rate<>10:20 → a test of a row's cells, an array beside `columns`.
// Without an operator: rows in which each word occurs.
function conditionOf(text, columns) {
  const all = [...text.matchAll(OPERATOR)];
  const found = all.find((each) => columns.includes(unquoted(text.slice(0, each.index)))) ?? all[0];
  if (!found) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    return (cells) => words.every((word) => cells.some((cell) => cell.text.toLowerCase().includes(word)));
  }
  const name = unquoted(text.slice(0, found.index));
  const at = columns.indexOf(name);
  if (at < 0) throw new Error(`there is no column "${name}"`);
  const value = unquoted(text.slice(found.index + found[0].length));
  const sign = found[0].toLowerCase();
  const equal = name === ITERATION ? (cell) => sameIteration(cell.text, value) : (cell) => same(cell, value);
  if (sign === "==") return (cells) => equal(cells[at]);
  if (sign === "!=") return (cells) => !equal(cells[at]);
  if (sign === "[has]" || sign === "[hasnot]") {
    const part = value.startsWith("^") ? value.slice(1) : value;
    if (!part) throw new Error("the letters to look for are missing");
    const has = (cell) => (value.startsWith("^") ? cell.text.startsWith(part) : cell.text.includes(part));
    return (cells) => has(cells[at]) === (sign === "[has]");
  }
  const ends = (sign === "<>" ? value.split(":") : [value]).map((end) => end.trim());
  if (ends.length !== (sign === "<>" ? 2 : 1) || !ends.every((end) => NUMBER.test(end))) {
    throw new Error(sign === "<>" ? "write two numbers, such as rate<>10:20" : `"${value}" is not a number`);
  }
  const [low, high] = ends.map(Number);
  const tests = {
    ">": (number) => number > low, ">=": (number) => number >= low,
    "<": (number) => number < low, "<=": (number) => number <= low,
    "<>": (number) => low < number && number < high,
  };
  return (cells) => cells[at].number !== null && tests[sign](cells[at].number);
}

// "," is and, ";" is or, as in a table script's Select.
function filterOf(text, columns) {
  if (!text.trim()) return () => true;
  const any = parts(text, ";").map((every) => parts(every, ",").map((part) => conditionOf(part, columns)));
  return (cells) => any.some((every) => every.every((test) => test(cells)));
}

// What a cell is sorted by: a number, or a size such as 10K or 1gbit, by value; null for words.
function valueIn(cell) {
  const size = SIZE.exec(cell.text);
  if (cell.number !== null || !size) return cell.number;
  return Number(size[1]) * SUFFIXES[size[2].toLowerCase()];
}

// Numbers and sizes first, then words; blanks last in both directions. id: the cells name rows, as `exp` does.
function compare(one, other, down, id = false) {
  if (!one.text || !other.text) return (one.text ? 0 : 1) - (other.text ? 0 : 1);
  let found;
  const [left, right] = [valueIn(one), valueIn(other)];
  if (id && left !== null && right !== null) {
    const [ours, theirs] = [iterationOf(one.text), iterationOf(other.text)];
    found = ours[0] - theirs[0] || ours[1] - theirs[1];
  } else if (left !== null && right !== null) found = left - right;
  else if ((left !== null) !== (right !== null)) found = left !== null ? -1 : 1;
  else found = one.text < other.text ? -1 : one.text > other.text ? 1 : 0;
  return down ? -found : found;
}

function shown(number) {
  return String(Number(number.toPrecision(6)));
}

// What a cell shows of its number: scaled, and as a difference from the first row's if `base` is one.
function valueOf(number, factor, base) {
  if (base !== null && base !== 0) {
    const percent = (100 * (number - base)) / Math.abs(base);
    return `${percent < 0 ? "−" : "+"}${Math.abs(percent).toFixed(1)} %`;
  }
  return shown(number * factor);
}

if (typeof module !== "undefined") module.exports = { filterOf, compare, valueOf };

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function enliven(grid) {
  const table = grid.querySelector("table");
  const heads = [...table.tHead.rows[0].cells];
  const columns = heads.map((head) => head.textContent.trim());
  const rows = [...table.tBodies[0].rows].map((row, index) => ({
    row, index,
    cells: [...row.cells].map((cell) => ({
      cell, html: cell.innerHTML, text: cell.textContent.trim(),
      number: cell.dataset.v === undefined ? null : Number(cell.dataset.v),
    })),
  }));
  const measured = heads.map((head) => head.dataset.id === undefined);
  const state = { sort: -1, down: false, factors: columns.map(() => 1), percent: false };

  const filter = element("input", { type: "search", size: 34, spellcheck: false, autocomplete: "off" });
  filter.placeholder = `words, or ${columns.includes("ca") ? "ca==bbr" : `${columns[0]}==…`}`;
  const told = element("output", { className: "told" });
  told.setAttribute("aria-live", "polite");
  const boxes = columns.map((name) => element("input", { type: "checkbox", checked: true, value: name }));
  const names = element("select", {}, ...columns
    .filter((_, at) => measured[at] && rows.some((row) => row.cells[at].number !== null))
    .map((name) => element("option", {}, name)));
  const factor = element("input", { type: "text", inputMode: "decimal", size: 7, value: "1" });
  const scale = element("button", { type: "button" }, "Scale");
  const percent = element("input", { type: "checkbox" });
  const reset = element("button", { type: "button" }, "Show all");
  const all = boxes.map((box, at) => element("label", {}, box, ` ${columns[at]}`));
  const tools = element("form", { className: "tools" },
    element("label", {}, "Rows ", filter), told,
    element("details", {}, element("summary", {}, "Columns"), element("div", { className: "choices" }, ...all)),
    element("details", {}, element("summary", {}, "Scale"), element("div", { className: "choices" },
      element("label", {}, "Column ", names), element("label", {}, " × ", factor), scale,
      element("label", {}, percent, " difference from the first row shown"))),
    reset);
  tools.addEventListener("submit", (event) => event.preventDefault());
  grid.prepend(tools);

  function draw() {
    let test = () => true;
    filter.removeAttribute("aria-invalid");
    let problem = "";
    try {
      test = filterOf(filter.value, columns);
    } catch (error) {
      problem = error.message;
      filter.setAttribute("aria-invalid", "true");
    }
    const kept = rows.filter((row) => test(row.cells));
    const order = [...kept];
    if (state.sort >= 0) {
      const at = state.sort;
      order.sort((one, other) => compare(one.cells[at], other.cells[at], state.down, !measured[at]));
    }
    rows.forEach((row) => { row.row.hidden = true; });
    order.forEach((row) => { row.row.hidden = false; });
    table.tBodies[0].append(...order.map((row) => row.row));
    rows.forEach(({ cells, row }) => cells.forEach((cell, at) => {
      const first = order.length && state.percent && measured[at] ? order[0].cells[at].number : null;
      const plain = cell.number === null || (state.factors[at] === 1 && (first === null || row === order[0].row));
      if (cell.changed || !plain) {
        cell.changed = !plain;
        if (plain) cell.cell.innerHTML = cell.html;
        else cell.cell.textContent = valueOf(cell.number, state.factors[at], row === order[0]?.row ? null : first);
      }
      cell.cell.hidden = !boxes[at].checked;
    }));
    heads.forEach((head, at) => {
      head.hidden = !boxes[at].checked;
      const way = at !== state.sort ? "none" : state.down ? "descending" : "ascending";
      head.setAttribute("aria-sort", way);
      const by = state.factors[at] === 1 ? "" : ` × ${shown(state.factors[at])}`;
      head.firstChild.textContent = `${columns[at]}${by}${{ none: "", ascending: " ▲", descending: " ▼" }[way]}`;
    });
    const hidden = boxes.filter((box) => !box.checked).length;
    told.textContent = problem || `${order.length} of ${rows.length} rows${hidden ? `, ${hidden} column${hidden === 1 ? "" : "s"} hidden` : ""}`;
  }

  heads.forEach((head, at) => {
    const button = element("button", { type: "button", className: "sort" }, columns[at]);
    head.replaceChildren(button);
    button.addEventListener("click", () => { // up, down, as it was
      if (state.sort !== at) Object.assign(state, { sort: at, down: false });
      else if (!state.down) state.down = true;
      else state.sort = -1;
      draw();
    });
  });
  filter.addEventListener("input", draw);
  boxes.forEach((box) => box.addEventListener("change", draw));
  percent.addEventListener("change", () => { state.percent = percent.checked; draw(); });
  scale.addEventListener("click", () => {
    const by = Number(factor.value);
    factor.toggleAttribute("aria-invalid", !Number.isFinite(by) || by === 0);
    if (!Number.isFinite(by) || by === 0) return;
    state.factors[columns.indexOf(names.value)] = by;
    draw();
  });
  reset.addEventListener("click", () => {
    filter.value = "";
    percent.checked = state.percent = false;
    state.sort = -1;
    state.factors.fill(1);
    boxes.forEach((box) => { box.checked = true; });
    draw();
  });
  draw();
}

if (typeof document !== "undefined") document.querySelectorAll(".grid").forEach(enliven);
