// The headers and bytes of one packet, as the packet list and the picture of the network show them.
import { make } from "./elements.js";
import * as server from "./server.js";

let styled = false;
const asked = new WeakMap(); // of each element, the request for its packet

// The style sheet that the packet list and the picture share.
export function style() {
  if (styled) return;
  styled = true;
  document.head.append(make("link", { rel: "stylesheet", href: server.at("static/network.css") }));
}

export function seconds(ns) {
  return (ns / 1e9).toFixed(9);
}

function hex(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 32) {
    const pairs = bytes.slice(at, at + 32).match(/../g);
    const letters = pairs.map((pair) => {
      const code = parseInt(pair, 16);
      return code > 31 && code < 127 ? String.fromCharCode(code) : ".";
    });
    lines.push(`${(at / 2).toString(16).padStart(4, "0")}  ${pairs.join(" ").padEnd(47)}  ${letters.join("")}`);
  }
  return lines.join("\n");
}

// Show a packet in an element, instead of one that is still being read; gives its line, or null where it is not shown.
export async function showHeaders(element, number, context) {
  asked.get(element)?.abort();
  const request = new AbortController();
  asked.set(element, request);
  let found;
  try {
    found = await server.ask("GET", `packets/${number}`, undefined, { signal: request.signal });
    if (request.signal.aborted) return null;
  } catch (error) {
    if (request.signal.aborted) return null;
    element.replaceChildren(make("p", {}, error.message));
    context.announce(error.message, true);
    return null;
  }
  const [, time, place, way, protocol, source, target, length, info] = found.row;
  element.replaceChildren(
    make("h3", {}, `Packet ${number}: ${protocol} ${info}`),
    make("p", {}, `${place} ${way}, at ${seconds(time)} s, ${source} to ${target}, ${length} bytes`),
    ...found.headers.map(({ name, fields }, i) =>
      make("details", { open: i === found.headers.length - 1 }, make("summary", {}, name),
        make("dl", {}, ...fields.flatMap(([key, value]) => [make("dt", {}, key), make("dd", {}, value)])))),
    make("details", {}, make("summary", {}, "Bytes"), make("pre", { tabindex: "0", "aria-label": "Bytes of the packet" }, hex(found.bytes))),
    make("p", { class: "by" }, `Read by ${found.by}.`),
  );
  return found.row;
}
