// The clock of the network in the page's head: where it is, pause, step, speed, fast-forward.
import { make, write } from "./elements.js";
import * as server from "./server.js";

const SPEEDS = ["0.01", "0.1", "0.5", "1", "2", "5", "10", "50", "max"];
const DRAW_MS = 900; // of a clock that runs: each drawing takes the browser about 10 ms of a processor

export function start(element, context) {
  let state = null;
  let arrived = 0;
  let drawn = 0;
  const order = async (...words) => {
    try {
      const { text, status } = await server.ask("POST", "clock", { words });
      context.announce(text, status !== 0);
    } catch (error) {
      context.announce(error.message, true);
    }
  };
  const time = make("output", { "aria-label": "Network time", "aria-live": "off" });
  const pause = make("button", { type: "button", onclick: () => toggle() }, "Pause");
  const step = make("button", { type: "button", title: "One step of 10 ms", "aria-label": "Step 10 ms", onclick: () => order("step", "10ms") }, "Step");
  const speed = make("select", { "aria-label": "Speed of the network's time", onchange: () => order("speed", speed.value) },
    ...SPEEDS.map((value) => make("option", { value, selected: value === "1" }, value === "max" ? "max" : `${value}×`)));
  const forward = make("button", {
    type: "button", title: "As fast as it goes until the command in the terminal ends", onclick: () => fast(),
  }, "Fast-forward");
  for (const control of [pause, step, speed, forward]) control.dataset.needs = "network";
  element.append(time, pause, step, speed, forward);
  const controls = [pause, step, speed, forward];
  let going = false;

  function toggle() {
    return order(state?.paused ? "resume" : "pause");
  }

  async function fast() {
    if (going) {
      context.interruptTerminal();
      return;
    }
    const terminal = context.terminal();
    if (terminal === undefined) {
      context.announce("Choose the terminal in which the command runs.", true);
      return;
    }
    going = true;
    forward.textContent = "Stop (Ctrl+C)"; // the button stays, and with it the focus
    try {
      context.announce((await server.ask("POST", `terminals/${terminal}/forward`)).text);
    } catch (error) {
      context.announce(error.message, true);
    }
    going = false;
    forward.textContent = "Fast-forward";
  }

  // Between two readings the page counts on by itself, as far as the speed is known.
  function now() {
    if (!state) return null;
    const runs = !state.paused && typeof state.speed === "number" && !state.on_way;
    return state.now_s + (runs ? Math.min((performance.now() - arrived) / 1000, 1) * state.speed : 0);
  }

  context.onEvent("clock", (event) => {
    for (const control of controls) control.disabled = !event.settable;
    if (!event.settable) return;
    const steady = state && !event.paused && !state.paused && event.speed === state.speed;
    state = event;
    arrived = performance.now();
    write(pause, event.paused ? "Resume" : "Pause");
    if (document.activeElement !== speed) {
      const value = String(event.speed);
      if (!SPEEDS.includes(value) && ![...speed.options].some((option) => option.value === value)) {
        speed.append(make("option", { value }, `${value}×`));
      }
      if (speed.value !== value) speed.value = value;
    }
    if (!steady || arrived - drawn >= DRAW_MS) {
      drawn = arrived;
      write(time, `${event.now_s.toFixed(2)} s${event.paused ? ", paused" : ""}`);
    }
    context.clockShown({ now_s: event.now_s, paused: event.paused, speed: event.speed });
  });
  for (const control of controls) control.disabled = true;
  return { toggle, fast, step: () => order("step", "10ms"), now };
}
