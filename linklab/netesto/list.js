// SPDX-License-Identifier: BSD-3-Clause
// Sorts and filters the table of the page, with the mouse or the keyboard and without a network.
"use strict";

// A cell as it is compared: a number where the text is one (with thousands' commas), else the text.
function valueOf(text) {
  const trimmed = text.trim();
  return /^[-+]?(\d[\d,]*\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(trimmed) ? Number(trimmed.replaceAll(",", "")) : trimmed;
}

// Which of two values comes first; unknown ones ("" and a dash) come last whatever the direction.
function compare(left, right, direction) {
  const [leftBlank, rightBlank] = [left, right].map((value) => value === "" || value === "–");
  if (leftBlank || rightBlank) return leftBlank - rightBlank;
  if (typeof left === "number" && typeof right === "number") return direction * (left - right);
  if (typeof left !== typeof right) return direction * (typeof left === "number" ? -1 : 1);
  return direction * left.localeCompare(right, undefined, { numeric: true, sensitivity: "base" });
}

// "bbr rate>50" → conditions; a comparison needs a column of that name, else it is a word like any other.
function conditions(text, columns) {
  return text.trim().split(/\s+/).filter(Boolean).map((word) => {
    const found = /^(.+?)(>=|<=|!=|=|>|<)(.+)$/.exec(word);
    const column = found ? columns.findIndex((name) => name.toLowerCase() === found[1].toLowerCase()) : -1;
    return column < 0 ? { word: word.toLowerCase() } : { column, operator: found[2], wanted: valueOf(found[3]) };
  });
}

// Whether a row of values meets all conditions.
function matches(row, wanted) {
  return wanted.every((one) => {
    if (one.word !== undefined) return row.some((value) => String(value).toLowerCase().includes(one.word));
    const value = row[one.column];
    if (value === "" || value === "–") return false;
    const order = compare(value, one.wanted, 1);
    switch (one.operator) {
      case "=": return order === 0;
      case "!=": return order !== 0;
      case ">": return order > 0;
      case "<": return order < 0;
      case ">=": return order >= 0;
      default: return order <= 0;
    }
  });
}

function start(table, form) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const rows = [...body.rows].map((element) => ({
    element,
    values: [...element.cells].map((cell) => valueOf(cell.dataset.value ?? cell.textContent)),
  }));
  const output = form.querySelector("output");
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      heads.forEach((each) => each.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      rows.sort((left, right) => compare(left.values[column], right.values[column], direction));
      body.append(...rows.map((row) => row.element));
    });
  });
  const names = heads.map((head) => head.dataset.column);
  const filter = form.querySelector("input");
  const show = () => {
    const wanted = conditions(filter.value, names);
    let count = 0;
    for (const row of rows) {
      row.element.hidden = !matches(row.values, wanted);
      count += row.element.hidden ? 0 : 1;
    }
    output.textContent = wanted.length ? `${count} of ${rows.length}` : "";
  };
  filter.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  show(); // a browser may have kept what was typed
}

if (typeof document !== "undefined") {
  start(document.getElementById("table"), document.querySelector("form.filter"));
} else {
  module.exports = { valueOf, compare, conditions, matches };
}
