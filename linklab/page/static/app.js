// The page of a lab: starts its parts, moves between them by keys, and passes on what the server tells.
import { announcer } from "./announcing.js";
import { start as startClock } from "./clock.js";
import { start as startContinued } from "./continued.js";
import { make, Tabs } from "./elements.js";
import { start as keepFocus } from "./focus.js";
import { start as startPredictions } from "./predictions.js";
import { start as startQuestions } from "./questions.js";
import { start as keepPlace } from "./place.js";
import * as server from "./server.js";
import { start as startSharing } from "./sharing.js";
import { start as startSteps } from "./steps.js";
import { start as startTerminals } from "./terminals.js";

const facts = JSON.parse(document.getElementById("facts").textContent);
const PARTS = [["manual", "main", "Manual"], ["terminals", "terminals", "Terminals"], ["pictures", "pictures", "Network"]];
const PICTURES = [["topology", "Topology"], ["plots", "Plots"], ["packets", "Packets"]];
const KEYS = [
  ["F6, Shift+F6", "to the next or the previous part of the page; also out of a terminal"],
  ["F7", "what the terminal in front shows, as text to read line by line; Escape or F7 goes back"],
  ["Shift+Tab", "in a terminal: to the controls above it"],
  ["Alt+PageDown, Alt+PageUp", "to the next or the previous step or prediction of the manual; at its end, to the questions"],
  ["Alt+Enter", "put the step's command into its terminal; press Enter there yourself"],
  ["Alt+Shift+Enter", "the same, with Enter"],
  ["F8", "pause or resume the network's time"],
  ["Shift+F8", "fast-forward until the command in the terminal ends; again: Ctrl+C"],
  ["F9", "one step of 10 ms while time is paused"],
  ["Arrow keys", "on tabs: the tab beside; on a border between parts: move it"],
  ["Ctrl+Shift+C, Ctrl+Shift+V", "copy from and paste into a terminal"],
  ["Escape", "close this list"],
];

server.begin(facts.prefix);
keepFocus();
const byId = (id) => document.getElementById(id);
const listeners = new Map();
const known = new Map();
const clockListeners = [];
const say = announcer(byId("announce"));
let terminals = null;
let clock = null;
let steps = null;

const context = {
  prefix: facts.prefix,
  lab: facts.lab,
  steps: facts.steps,
  predictions: facts.predictions,
  prompt: facts.prompt,
  nodes: [],
  // Say something that is seen elsewhere on the page.
  say,
  // Say something to everybody: a problem is seen in the head of the page; all is read out, from one place alone.
  announce(text, problem = false) {
    say(text);
    if (problem) byId("notice").textContent = text;
    else if (!known.has("ended")) byId("notice").textContent = ""; // that the network has ended stays said
  },
  // Hear of the events of a kind; at once of the last one, since a part may be loaded later than it came.
  onEvent(kind, take) {
    listeners.set(kind, [...(listeners.get(kind) || []), take]);
    if (known.has(kind)) take(known.get(kind));
  },
  onClock(take) {
    clockListeners.push(take);
  },
  clockShown(state) {
    for (const take of clockListeners) take(state);
  },
  openTerminal(name, text, how) {
    return terminals ? terminals.put(name, text, how) : undefined;
  },
  terminal: () => terminals?.current?.facts.id,
  interruptTerminal: () => terminals?.current?.press("\x03"),
  now: () => clock?.now() ?? null,
  show,
  isKey: (event) => keyOf(event) !== undefined,
};

// --- which part is seen where there is room for one alone

function show(name) {
  document.body.dataset.shown = name;
  for (const button of document.querySelectorAll("nav.parts button")) {
    button.setAttribute("aria-pressed", String(button.dataset.part === name));
  }
}

function goTo(name) {
  const [, id, title] = PARTS.find(([part]) => part === name);
  show(name);
  if (name === "terminals" && terminals) terminals.focus();
  else if (name !== "manual" || !steps?.focus()) byId(id).focus();
  if (document.activeElement !== byId(id)) context.announce(title); // else a reader tells its name with the focus
}

function turn(by) {
  const at = PARTS.findIndex(([, id]) => byId(id).contains(document.activeElement));
  goTo(PARTS[(at + by + PARTS.length) % PARTS.length][0]);
}

// --- keys

function keyOf(event) {
  const name = [event.altKey && "Alt", event.ctrlKey && "Ctrl", event.shiftKey && "Shift", event.key].filter(Boolean).join("+");
  return {
    F6: () => turn(1),
    "Shift+F6": () => turn(-1),
    "Alt+PageDown": () => steps?.move(1),
    "Alt+PageUp": () => steps?.move(-1),
    "Alt+Enter": () => steps?.put(false),
    "Alt+Shift+Enter": () => steps?.put(true),
    F7: () => terminals?.readOutput(),
    F8: () => clock?.toggle(),
    "Shift+F8": () => clock?.fast(),
    F9: () => clock?.step(),
  }[name];
}

document.addEventListener("keydown", (event) => {
  const act = keyOf(event);
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}, true);

function keysDialog() {
  const dialog = byId("keys");
  dialog.append(
    make("h2", { id: "keys-title" }, "Keys"),
    make("dl", {}, ...KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)])),
    make("button", { type: "button", onclick: () => dialog.close() }, "Close"),
  );
  byId("show-keys").addEventListener("click", () => dialog.showModal());
}

// --- borders between parts, by mouse and by arrow keys

function divider(element, property, flat) {
  const most = Number(element.ariaValueMax), least = Number(element.ariaValueMin), kept = `linklab${property}`;
  const set = (share) => {
    const value = Math.round(Math.min(most, Math.max(least, share)));
    element.ariaValueNow = String(value);
    document.body.style.setProperty(property, `${value}%`);
    localStorage.setItem(kept, String(value));
  };
  if (localStorage.getItem(kept)) set(Number(localStorage.getItem(kept)));
  element.addEventListener("pointerdown", (event) => {
    element.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  element.addEventListener("pointermove", (event) => {
    if (!element.hasPointerCapture(event.pointerId)) return;
    const around = element.parentElement.getBoundingClientRect();
    set(flat ? ((event.clientY - around.top) / around.height) * 100 : ((event.clientX - around.left) / around.width) * 100);
  });
  element.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -2, ArrowUp: -2, ArrowRight: 2, ArrowDown: 2 }[event.key];
    if (!by) return;
    event.preventDefault();
    set(Number(element.ariaValueNow) + by);
  });
}

// --- pictures: whatever parts this version of the page has

async function pictures() {
  const region = byId("pictures");
  const there = PICTURES.filter(([name]) => facts.pictures.includes(name));
  const started = new Map();
  const tabs = new Tabs("Views of the network", async (name) => {
    if (name === undefined || started.has(name)) return;
    started.set(name, true);
    const panel = byId(`picture-${name}`);
    try {
      const part = await import(server.at(`static/${name}.js`));
      panel.replaceChildren();
      await part.start(panel, context);
    } catch (error) {
      panel.replaceChildren(make("p", {}, `This part could not be started: ${error.message}`));
    }
  });
  region.append(make("div", { class: "tabs" }, tabs.list));
  for (const [name, title] of there) {
    const panel = make("div", { class: "panel", id: `picture-${name}` });
    region.append(panel);
    tabs.add(name, title, panel);
  }
  if (!there.length) region.hidden = true;
}

// A control with data-needs cannot do anything without the network, or without the lab's program; then it says so.
function disable(needed) {
  const held = document.activeElement;
  for (const control of document.querySelectorAll(`[data-needs="${needed}"]`)) control.disabled = true;
  if (held?.disabled) byId("main").focus();
}

function listen() {
  server.socket("events", {
    onMessage: (message) => {
      const event = JSON.parse(message);
      known.set(event.kind, event);
      for (const take of listeners.get(event.kind) || []) take(event);
    },
    onLost: () => {
      if (known.has("ended")) disable("server");
      else context.announce("The connection to the lab's program is lost; the page tries again.", true);
    },
    onOpen: () => {
      if (!known.has("ended")) context.announce("");
    },
  });
}

// Hear of what is announced: the server tells all again after a connection that was lost.
function onNews(kind, take) {
  let last = "";
  context.onEvent(kind, (event) => {
    const text = JSON.stringify(event);
    if (text !== last) take(event);
    last = text;
  });
}

onNews("stage", (event) => context.announce(event.text, true));
onNews("ready", (event) => {
  context.nodes = event.nodes;
  terminals?.setNodes(event.nodes);
  context.announce("The network runs.");
});
context.onEvent("terminals", (event) => terminals?.list(event.terminals));
onNews("ended", (event) => {
  document.body.classList.add("over");
  disable("network");
  const why = event.why && `: ${event.why.replace(/\.$/, "")}`;
  context.announce(`The network has ended${why}. What you did is kept; start the lab again in the same folder to go on.`, true);
});

async function begin() {
  keysDialog();
  divider(byId("divider"), "--manual", false);
  divider(byId("divider-flat"), "--terminals", true);
  document.querySelector("nav.parts").append(...PARTS.map(([name, , title]) =>
    make("button", { type: "button", "data-part": name, "aria-pressed": "false", onclick: () => goTo(name) }, title)));
  show("manual");
  clock = startClock(byId("clock"), context);
  if (facts.missing) byId("terminals").append(make("p", {}, facts.missing));
  else terminals = await startTerminals(byId("terminals"), context);
  startSharing(document.querySelector("header .corner"), context);
  startContinued(byId("main"), context);
  listen();
  steps = await startSteps(byId("main"), context);
  startPredictions(byId("main"), context);
  steps.add(startQuestions(byId("main"), context));
  await pictures();
  keepPlace(byId("main"), context);
  if (known.has("ended")) disable("network"); // while the page was loaded
}

begin().catch((error) => context.announce(`The page could not be started: ${error.message}`, true));
