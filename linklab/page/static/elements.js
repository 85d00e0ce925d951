// Makes elements: make("button", {type: "button", onclick: f}, "Text", other).
export function make(name, attributes = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...inside.filter((part) => part !== null && part !== undefined));
  return element;
}

// Gives an element this text, if it has another: a browser lays the page out and draws it again even for the same text.
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Puts this in the place of what an element holds, where it differs: what has not changed keeps its selected text.
// A link that had the focus leaves it to the one in its place (focus.js).
export function redraw(element, inside) {
  const drawn = make("div", {}, ...inside);
  if (drawn.innerHTML !== element.innerHTML) element.replaceChildren(...drawn.childNodes);
}

// A list of tabs by the rules of the ARIA Authoring Practices: arrows move, the chosen one alone is in the order of Tab.
export class Tabs {
  constructor(label, onChoose = () => {}) {
    this.list = make("div", { role: "tablist", "aria-label": label });
    this.tabs = new Map();
    this.onChoose = onChoose;
    this.list.addEventListener("keydown", (event) => this.#move(event));
  }

  add(id, text, panel) {
    const tab = make("button", {
      type: "button", role: "tab", id: `tab-${id}`, "aria-controls": panel.id, "aria-selected": "false", tabindex: "-1",
      onclick: () => this.choose(id),
    }, text);
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    panel.hidden = true;
    this.tabs.set(id, { tab, panel });
    this.list.append(tab);
    if (this.tabs.size === 1) this.choose(id);
    return tab;
  }

  remove(id) {
    const { tab, panel } = this.tabs.get(id);
    tab.remove();
    panel.remove();
    this.tabs.delete(id);
    if (this.chosen === id) this.choose([...this.tabs.keys()].at(-1));
  }

  choose(id) {
    this.chosen = this.tabs.has(id) ? id : undefined;
    for (const [key, { tab, panel }] of this.tabs) {
      tab.setAttribute("aria-selected", String(key === id));
      tab.tabIndex = key === id ? 0 : -1;
      panel.hidden = key !== id;
    }
    this.onChoose(this.chosen);
  }

  #move(event) {
    const ids = [...this.tabs.keys()];
    const at = ids.indexOf(this.chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: ids.length - 1 }[event.key];
    if (to === undefined || !ids.length) return;
    event.preventDefault();
    this.choose(ids[(to + ids.length) % ids.length]);
    this.tabs.get(this.chosen).tab.focus();
  }
}

// A few sentences of our documentation, with code in backticks and blocks of commands, as elements.
export function explained(markdown) {
  const pieces = markdown.split(/^```\w*\n([\s\S]*?)\n```$/m);
  return pieces.flatMap((piece, at) => {
    if (at % 2) return [make("pre", {}, piece)];
    return piece.trim().split(/\n{2,}/).filter(Boolean).map((paragraph) =>
      make("p", {}, ...paragraph.split("`").map((text, number) => (number % 2 ? make("code", {}, text) : text))));
  });
}
