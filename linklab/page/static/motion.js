// Flights of packets over links: which are under way at a moment of network time, and where on their links. No DOM.

const MOST = 5000;
const CATCH_UP_S = 1;

export const KINDS = {
  TCP: { letter: "T", shape: "circle", colour: "var(--series-1)", name: "TCP" },
  UDP: { letter: "U", shape: "square", colour: "var(--series-2)", name: "UDP" },
  ICMP: { letter: "I", shape: "diamond", colour: "var(--series-3)", name: "ICMP" },
  ARP: { letter: "A", shape: "triangle", colour: "var(--series-4)", name: "ARP" },
  other: { letter: "?", shape: "hexagon", colour: "var(--series-8)", name: "other" },
};

export function kindOf(protocol) {
  return protocol.startsWith("ICMP") ? "ICMP" : protocol in KINDS ? protocol : "other";
}

// Where on its link a packet is at a time, 0 at the sender, 1 at the receiver: it waits first, then flies its delay.
export function progress(flight, at) {
  const took = flight.to - flight.from;
  if (took <= 0) return at < flight.to ? 0 : 1;
  const flies = flight.delay > 0 ? Math.min(flight.delay, took) : took;
  return Math.min(1, Math.max(0, (at - (flight.to - flies)) / flies));
}

export class Flights {
  constructor() {
    this.all = []; // in the order of their ends
    this.at = 0; // the moment that is shown, s of network time
    this.lag = 0.001;
  }

  // Take flights as the server tells them, times in ns.
  add(told) {
    for (const [link, forward, from, to, delay, number, known, protocol, info] of told) {
      this.all.push({ link, forward, from: from / 1e9, to: to / 1e9, delay: delay / 1e9, number, known, protocol, info, kind: kindOf(protocol) });
    }
    this.all.sort((a, b) => a.to - b.to || a.number - b.number);
    this.all.splice(0, Math.max(0, this.all.length - MOST));
    this.lag = Math.min(0.5, Math.max(0.001, ...this.all.slice(-50).map((flight) => flight.to - flight.from)));
  }

  clear() {
    this.all = [];
  }

  // The first flight that ends after the moment that is shown, not counting those that ended with the last step.
  next(after = this.at) {
    return this.all.find((flight) => flight.to > after);
  }

  // Those under way; one that takes less than `least` seconds is shown that long all the same.
  underway(at, least) {
    return this.all.filter((flight) => flight.from <= at && at <= Math.max(flight.to, flight.from + least));
  }

  // Let the moment that is shown go on by `seconds`, not beyond `end`; far behind, it jumps.
  advance(seconds, end, speed) {
    if (end - this.at > this.lag + CATCH_UP_S * speed * 3) this.at = end - this.lag;
    this.at = Math.max(this.at, Math.min(end, this.at + seconds));
  }
}
