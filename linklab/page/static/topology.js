// The picture of the network: nodes that open terminals, links with their rates and states, and packets in slow motion.
import { make, write } from "./elements.js";
import { seconds, showHeaders, style } from "./headers.js";
import { Flights, KINDS, progress } from "./motion.js";
import * as server from "./server.js";

const SVG = "http://www.w3.org/2000/svg";
const MARGIN = 60;
const NODE = { wide: 52, high: 30 };
const SPEEDS = [["0.1", "1/10"], ["0.01", "1/100"], ["0.001", "1/1000"]];
const STEPS_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 1000];
const STEP_WALL_S = 0.8;
const LEAST_WALL_S = 0.3;
const TOLD_MS = 180; // until what has happened in the network is known here
const MOST_LISTED = 12;
const QUIET_BPS = 2000;

function svg(name, attributes = {}, ...inside) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...inside);
  return element;
}

function shortRate(bps) {
  for (const [unit, scale] of [["Gb/s", 1e9], ["Mb/s", 1e6], ["kb/s", 1e3]]) {
    if (bps >= scale) return `${(bps / scale).toFixed(bps / scale >= 99.5 ? 0 : 1)} ${unit}`;
  }
  return `${bps.toFixed(0)} b/s`;
}

function shape(kind, size = 9) {
  const { letter, shape: name, colour } = KINDS[kind];
  const points = {
    square: [[-1, -1], [1, -1], [1, 1], [-1, 1]],
    diamond: [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]],
    triangle: [[0, -1.4], [1.35, 1], [-1.35, 1]],
    hexagon: [[-1.15, 0], [-0.6, -1], [0.6, -1], [1.15, 0], [0.6, 1], [-0.6, 1]],
  }[name];
  const outline = points
    ? svg("polygon", { class: "halo", fill: colour, points: points.map(([x, y]) => `${x * size},${y * size}`).join(" ") })
    : svg("circle", { class: "halo", fill: colour, r: size });
  return [outline, svg("text", { y: name === "triangle" ? 2 : 0 }, letter)];
}

export async function start(element, context) {
  style();
  const { nodes, links } = await server.ask("GET", "drawing");
  if (!nodes.length) {
    element.append(make("p", {}, "This lab builds its networks by commands; there is no drawing of them."));
    return;
  }
  const places = new Map(nodes.map((node) => [node.name, node]));
  const high = Math.max(...nodes.map((node) => node.y)), wide = Math.max(...nodes.map((node) => node.x));
  const least = { x: Math.min(...nodes.map((node) => node.x)), y: Math.min(...nodes.map((node) => node.y)) };
  const picture = svg("svg", {
    viewBox: `${least.x - MARGIN} ${least.y - MARGIN} ${wide - least.x + 2 * MARGIN} ${high - least.y + 2 * MARGIN}`,
    role: "group", "aria-label": "The network; each node opens a terminal",
  });
  const drawn = links.map((link) => drawLink(link));
  picture.append(...drawn.flatMap(({ wire, labels }) => [wire, ...labels]));
  picture.append(...nodes.map((node) => drawNode(node)));
  const air = svg("g", { "aria-hidden": "true" });
  picture.append(air);
  const words = make("ul");
  const inWords = make("details", {}, make("summary", {}, "Links in words"), words);
  const detail = make("section", { class: "packet-detail", tabindex: "-1", "aria-label": "Headers of the chosen packet" });
  const motion = slowMotion();
  element.append(make("div", { class: "network-view" }, picture, motion.controls, motion.list, detail, inWords));

  // --- nodes and links

  function drawNode(node) {
    const half = { x: NODE.wide / 2, y: NODE.high / 2 };
    const outline = node.kind === "host"
      ? svg("rect", { class: "node", x: -half.x, y: -half.y, width: NODE.wide, height: NODE.high, rx: 3 })
      : node.kind === "router"
        ? svg("ellipse", { class: "node", rx: half.x, ry: half.y })
        : svg("rect", { class: "node", x: -half.x, y: -half.y, width: NODE.wide, height: NODE.high, rx: 14 });
    const open = () => context.openTerminal(node.name);
    return svg("g", {
      transform: `translate(${node.x} ${node.y})`, role: "button", tabindex: "0",
      "aria-label": `${node.name}${node.note ? ` ${node.note}` : ""}, ${node.kind}: open a terminal`,
      onclick: open,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        open();
      },
    }, outline, svg("text", {}, node.name), 
    ...(node.note ? [" ", svg("text", { class: "small", y: 25 }, node.note)] : [])); // the space parts them for readers
  }

  function drawLink(link) {
    const a = places.get(link.a), b = places.get(link.b);
    const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
    const along = { x: (b.x - a.x) / length, y: (b.y - a.y) / length };
    const aside = { x: -along.y, y: along.x };
    const wire = svg("line", { class: "wire", x1: a.x, y1: a.y, x2: b.x, y2: b.y });
    const at = (far, away) => ({ x: a.x + along.x * far + aside.x * away, y: a.y + along.y * far + aside.y * away });
    const above = along.x >= 0 ? -1 : 1;
    const text = (place, name, says = "") => svg("text", { class: name, x: place.x, y: place.y }, says);
    const near = Math.min(0.32 * length, 62);
    const rates = [text(at(length / 2, above * 22), "rate"), text(at(length / 2, above * -16), "rate")];
    const labels = [text(at(near, above * 10), "small", link.ports[0]), text(at(length - near, above * 10), "small", link.ports[1]), ...rates];
    return { link, wire, labels, rates, length, at, up: true };
  }

  function showReading({ links: states }) {
    states.forEach((state, i) => {
      const { link, wire, rates } = drawn[i];
      const [forth, back] = state.rates;
      wire.classList.toggle("down", !state.up);
      wire.classList.toggle("busy", state.up && state.rates.some((rate) => rate > QUIET_BPS));
      const say = (rate, from, to) => (rate > QUIET_BPS ? `${from}→${to} ${shortRate(rate)}` : "");
      write(rates[0], state.up ? say(forth, link.a, link.b) : "down");
      rates[0].classList.toggle("down", !state.up);
      write(rates[1], state.up ? say(back, link.b, link.a) : "");
      if (state.up !== drawn[i].up) context.announce(`The link ${link.a}–${link.b} is ${state.up ? "up" : "down"}.`);
      drawn[i].up = state.up;
    });
    if (!inWords.open) return;
    words.replaceChildren(...states.map((state, i) => {
      const { a, b } = drawn[i].link;
      const rate = (value) => (value === null ? "not known" : shortRate(value));
      return make("li", {}, `${a}–${b}: ${state.up ? `up, ${a} to ${b} ${rate(state.rates[0])}, ${b} to ${a} ${rate(state.rates[1])}` : "down"}`);
    }));
  }

  // --- slow motion

  function slowMotion() {
    const flights = new Flights();
    const still = matchMedia("(prefers-reduced-motion: reduce)");
    let on = false, busy = false, again = false, stepping = false, held = null, chosen = null, before = null, listedAt = 0, frame = 0;
    let clock = { now_s: 0, paused: false, speed: 1 };
    const toggle = make("button", { type: "button", "aria-pressed": "false", onclick: () => turn() }, "Slow motion");
    const speed = make("select", { "aria-label": "Speed of slow motion", onchange: () => on && obey("speed", speed.value) },
      ...SPEEDS.map(([value, says]) => make("option", { value, selected: value === "0.01" }, says)));
    const next = make("button", { type: "button", disabled: true, onclick: () => step() }, "Next packet");
    const shown = make("output", { "aria-label": "Moment that is shown", "aria-live": "off" });
    const legend = make("span", { class: "legend" }, ...Object.entries(KINDS).map(([kind, { name }]) =>
      make("span", {}, svg("svg", { viewBox: "-13 -13 26 26", "aria-hidden": "true" }, svg("g", { class: "packet" }, ...shape(kind))), ` ${name}`)));
    const list = make("ul", { class: "underway", "aria-label": "Packets under way" });
    const controls = make("div", { class: "motion", role: "group", "aria-label": "Slow motion" }, toggle, speed, next, shown, legend);
    const socket = server.socket("packets", {
      onMessage: (text) => {
        const told = JSON.parse(text);
        if (told.flights) flights.add(told.flights);
      },
      onOpen: () => socket?.send({ motion: on }),
    });
    context.onClock((state) => (clock = state));

    const obey = (...words) => server.ask("POST", "clock", { words });

    async function turn() {
      if (busy) return;
      busy = true;
      try {
        await (on ? end() : begin());
      } catch (error) {
        context.announce(error.message, true);
      }
      busy = false;
    }

    async function begin() {
      socket.send({ motion: true });
      await pause(TOLD_MS); // told before the capture begins, which reads the delays of links for it
      const state = await server.ask("POST", "capture", { do: "start", places: [], filter: "" });
      before = clock.speed;
      if (!clock.paused) await obey("speed", speed.value);
      on = true;
      toggle.setAttribute("aria-pressed", "true");
      next.disabled = false;
      flights.clear();
      held = null;
      flights.at = context.now() ?? clock.now_s;
      context.announce(`Slow motion: ${state.places.length} interfaces are captured. Next packet steps from packet to packet.`);
      let last = performance.now();
      const draw = (wall) => {
        if (!on) return;
        frame = requestAnimationFrame(draw);
        if (!busy) flow(Math.min(0.2, (wall - last) / 1000));
        last = wall;
        if (!busy && !document.hidden && element.offsetParent) show(stepping ? held : null, 1);
      };
      frame = requestAnimationFrame(draw);
    }

    async function end() {
      on = false;
      cancelAnimationFrame(frame);
      toggle.setAttribute("aria-pressed", "false");
      next.disabled = true;
      socket.send({ motion: false });
      air.replaceChildren();
      list.replaceChildren();
      shown.textContent = "";
      await server.ask("POST", "capture", { do: "stop", places: [], filter: "" });
      if (before !== null) await obey("speed", String(before));
      context.announce("Slow motion has ended.");
    }

    const slow = () => Number(speed.value);

    // The picture follows the network's time, later by what the longest flight takes: a flight is known when it ends.
    function flow(wallSeconds) {
      if (!clock.paused) stepping = false;
      if (stepping) return; // the next step goes on where this one has ended, also if the network is further
      const now = context.now() ?? clock.now_s;
      const pace = clock.paused ? slow() : Math.min(clock.speed, 1);
      const end = clock.paused ? clock.now_s : now - flights.lag - (TOLD_MS / 1000) * pace;
      if (!still.matches || clock.paused) flights.advance(wallSeconds * pace, end, pace);
      else flights.at = Math.max(flights.at, end);
    }

    async function step() {
      again = busy && on; // pressed while a packet still travels: the next follows it
      if (busy) return;
      busy = true;
      try {
        if (!clock.paused) {
          await obey("pause");
          await pause(2 * TOLD_MS);
        }
        stepping = true;
        const flight = flights.next() ?? (await waitForNext());
        if (flight) await play(flight);
        else context.announce("No packet has passed a link meanwhile.");
      } catch (error) {
        context.announce(error.message, true);
      }
      busy = false;
      if (again) await step();
    }

    const pause = (ms) => new Promise((done) => setTimeout(done, ms));

    async function waitForNext() {
      await obey("speed", "1"); // a step goes as fast as the network does, and nobody waits for nothing in slow motion
      try {
        for (const ms of STEPS_MS) {
          await obey("step", `${ms}ms`);
          await pause(ms + TOLD_MS);
          const flight = flights.next();
          if (flight) return flight;
        }
        return undefined;
      } finally {
        await obey("speed", speed.value);
      }
    }

    // Show one flight from its beginning (or from now) to its end, in the same time whatever it took.
    async function play(flight) {
      held = flight; // stays where it has arrived until the next step
      const from = Math.max(flights.at, Math.min(flight.from, flight.to));
      const begun = performance.now();
      const headers = choose(flight.number);
      while (!still.matches) {
        const part = (performance.now() - begun) / 1000 / STEP_WALL_S;
        if (part >= 1) break;
        flights.at = from + (flight.to - from) * part;
        show(flight, part);
        await new Promise(requestAnimationFrame);
      }
      flights.at = flight.to;
      show(flight, 1);
      await headers; // who hears that it has arrived finds its headers below
      context.announce(`${describe(flight)}, arrived at ${flight.to.toFixed(6)} s.`);
    }

    function describe(flight) {
      const { a, b } = drawn[flight.link].link;
      const [from, to] = flight.forward ? [a, b] : [b, a];
      return `${flight.protocol} ${flight.info}, ${from} to ${to}`;
    }

    function choose(number) {
      chosen = number;
      return showHeaders(detail, number, context);
    }

    // `stepped` is drawn at `part` of its way, however short it is.
    function show(stepped = null, part = 0) {
      shown.textContent = `${seconds(flights.at * 1e9)} s`;
      const under = flights.underway(flights.at, stepped ? 0 : LEAST_WALL_S * slow());
      if (stepped && !under.includes(stepped)) under.push(stepped);
      const crowd = new Map();
      air.replaceChildren(...under.slice(-200).map((flight) => {
        const { at, length } = drawn[flight.link];
        const far = still.matches ? 0.5 : flight === stepped && flight.to - flight.from < 1e-6 ? part : progress(flight, flights.at);
        const inset = Math.min(32, length / 4);
        const along = inset + (length - 2 * inset) * (flight.forward ? far : 1 - far);
        const spot = `${flight.link} ${Math.round(along / 12)} ${flight.forward}`;
        const beside = crowd.get(spot) ?? 0;
        crowd.set(spot, beside + 1);
        const place = at(along, (flight.forward ? -1 : 1) * (6 + 9 * Math.min(beside, 4)));
        return svg("g", {
          class: `packet${flight.number === chosen ? " chosen" : ""}`, transform: `translate(${place.x} ${place.y})`,
          onclick: () => choose(flight.number),
        }, ...shape(flight.kind));
      }));
      if (performance.now() - listedAt < 400 || list.contains(document.activeElement)) return;
      listedAt = performance.now();
      list.replaceChildren(...under.slice(0, MOST_LISTED).map((flight) =>
        make("li", {}, make("button", { type: "button", onclick: () => choose(flight.number) }, describe(flight)))));
    }

    return { controls, list };
  }

  server.socket("topology", { onMessage: (text) => showReading(JSON.parse(text)) });
}
