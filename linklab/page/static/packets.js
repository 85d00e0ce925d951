// The packet list of a lab's page: what is captured, as lines that come live, with the headers of the chosen one.
import { make } from "./elements.js";
import { seconds, showHeaders, style } from "./headers.js";
import * as server from "./server.js";

const MOST_ROWS = 1000;
const COLUMNS = ["Number", "Time (s)", "Interface", "Way", "Protocol", "Source", "Destination", "Length", "What"];

export function start(element, context) {
  style();
  const places = make("select", { id: "packets-places" }, make("option", { value: "" }, "all interfaces"));
  const filter = make("input", { id: "packets-filter", type: "text", size: "18", placeholder: "such as icmp", spellcheck: "false" });
  const only = make("input", { id: "packets-only", type: "search", size: "14", spellcheck: "false", oninput: () => sift() });
  const toggle = make("button", { type: "submit" }, "Start");
  const clear = make("button", { type: "button", onclick: () => order("clear") }, "Clear");
  const file = make("a", { href: server.at("packets/file"), download: true, class: "button" }, "Download (pcapng)");
  const status = make("p", { class: "note-line", role: "status" });
  const body = make("tbody");
  const table = make("table", { role: "grid", "aria-label": "Packets", "aria-readonly": "true", class: "packets" },
    make("thead", {}, make("tr", {}, ...COLUMNS.map((name) => make("th", { scope: "col" }, name)))), body);
  const scroll = make("div", { class: "packet-list", tabindex: "0", role: "region", "aria-label": "List of packets" }, table);
  const detail = make("section", { class: "packet-detail", tabindex: "0", "aria-label": "Headers of the chosen packet" },
    make("p", {}, "Choose a packet to see its headers: click it, or move with the arrow keys and press Enter."));
  const form = make("form", { class: "packet-controls", onsubmit: (event) => { event.preventDefault(); order(running ? "stop" : "start"); } },
    make("label", { for: "packets-places" }, "Capture"), places,
    make("label", { for: "packets-filter" }, "Filter, as for tcpdump"), filter, toggle, clear, file,
    make("label", { for: "packets-only" }, "Show only"), only);
  element.append(make("div", { class: "packet-view" }, form, status, scroll, detail));

  let running = false;
  let listed = false;

  async function order(what) {
    try {
      showState(await server.ask("POST", "capture", { do: what, places: places.value ? [places.value] : [], filter: filter.value }));
      if (what === "clear") body.replaceChildren();
    } catch (error) {
      status.textContent = error.message; // also the same again, which is then heard again
    }
  }

  async function listPlaces() {
    if (listed) return;
    try {
      const { interfaces } = await server.ask("GET", "packets/interfaces");
      listed = true;
      for (const [node, names] of Object.entries(interfaces)) {
        for (const name of names) places.append(make("option", { value: `${node}:${name}` }, `${node}:${name}`));
      }
    } catch { /* paused or not ready: asked again when the list gets the focus */ }
  }
  places.addEventListener("focus", listPlaces);
  context.onEvent("ready", listPlaces);

  function showState(state) {
    running = state.running;
    toggle.textContent = running ? "Stop" : "Start";
    const kept = running ? "" : `; ${state.last - state.first + 1} packets kept`; // of those to come, the list tells
    const dropped = state.dropped ? `, ${state.dropped} dropped` : "";
    const what = running ? `capturing ${state.places.length > 4 ? `${state.places.length} interfaces` : state.places.join(", ")}${state.filter ? ` (${state.filter})` : ""}` : "no capture is running";
    const text = `${state.said ? `${state.said}; ` : ""}${what}${kept}${dropped}`;
    if (status.textContent !== text) status.textContent = text; // the server answers with it, and tells every page
  }

  // --- lines

  function line(row) {
    const [number, time, place, way, protocol, ...rest] = row;
    const cells = [number, seconds(time), place, way, protocol, ...rest];
    const tr = make("tr", { tabindex: "-1", "data-number": number, "data-protocol": protocol, "aria-selected": "false", "aria-label": told(cells) },
      ...cells.map((cell) => make("td", { role: "gridcell" }, String(cell))));
    tr.hidden = !fits(tr);
    return tr;
  }

  // The whole row in words: a reader that comes to it says its cells without their columns.
  function told([number, time, place, way, protocol, source, target, length, what]) {
    return `Packet ${number} at ${time} s, ${`${place} ${way}`.trim()}, ${protocol} from ${source} to ${target}, ${length} bytes: ${what}`;
  }

  const fits = (tr) => !only.value || tr.textContent.toLowerCase().includes(only.value.toLowerCase());

  function sift() {
    for (const tr of body.children) tr.hidden = !fits(tr);
    reachable();
  }

  // One row is in the order of Tab: that where the reader was, or else the first that is shown.
  function reachable() {
    if (body.querySelector('tr[tabindex="0"]:not([hidden])')) return;
    for (const tr of body.querySelectorAll('tr[tabindex="0"]')) tr.tabIndex = -1;
    const first = body.querySelector("tr[data-number]:not([hidden])");
    if (first) first.tabIndex = 0;
  }

  function add(rows, skipped) {
    const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 30;
    if (skipped) body.append(make("tr", { class: "skipped" }, make("td", { colspan: COLUMNS.length, role: "gridcell" }, `${skipped} packets are not shown here; they are in the file`)));
    body.append(...rows.map(line));
    while (body.children.length > MOST_ROWS) body.firstChild.remove();
    reachable();
    if (atEnd) scroll.scrollTop = scroll.scrollHeight;
  }

  function move(from, by) {
    let to = from;
    do to = by > 0 ? to.nextElementSibling : to.previousElementSibling;
    while (to && (to.hidden || !to.dataset.number));
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }

  function choose(tr) {
    for (const other of body.querySelectorAll('[aria-selected="true"]')) other.setAttribute("aria-selected", "false");
    for (const other of body.querySelectorAll('tr[tabindex="0"]')) other.tabIndex = -1;
    tr.setAttribute("aria-selected", "true");
    tr.tabIndex = 0;
    showHeaders(detail, tr.dataset.number, context).then((row) => {
      if (row) context.announce(`Packet ${row[0]}: ${row[4]}, ${row[8]}`);
    });
  }

  body.addEventListener("click", (event) => {
    const tr = event.target.closest("tr[data-number]");
    if (tr) choose(tr);
  });
  body.addEventListener("keydown", (event) => {
    const tr = event.target.closest("tr[data-number]");
    if (!tr) return;
    const all = [...body.querySelectorAll("tr[data-number]:not([hidden])")];
    const act = {
      ArrowDown: () => move(tr, 1),
      ArrowUp: () => move(tr, -1),
      Home: () => { tr.tabIndex = -1; all[0].tabIndex = 0; all[0].focus(); },
      End: () => { tr.tabIndex = -1; all.at(-1).tabIndex = 0; all.at(-1).focus(); },
      Enter: () => choose(tr),
      " ": () => choose(tr),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  server.socket("packets", {
    onMessage: (text) => {
      const told = JSON.parse(text);
      if (told.state) showState(told.state);
      if (told.rows) add(told.rows, told.skipped);
    },
    onOpen: () => body.replaceChildren(),
  });
}
