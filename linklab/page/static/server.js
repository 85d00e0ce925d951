// Talks to the server of this page: requests as JSON, and sockets that come back when the connection was lost.

export class Refused extends Error {
  constructor(sentence, status = 0) {
    super(sentence);
    this.status = status;
  }
}

let prefix = "/";

export function at(path) {
  return prefix + path;
}

export function begin(given) {
  prefix = given;
}

// Ask; the answer as an object. Throws Refused with the server's sentence; signal: gives up where it is aborted.
export async function ask(method, path, fields, { keepalive = false, signal = null } = {}) {
  let answer;
  try {
    answer = await fetch(at(path), {
      method,
      headers: { "Content-Type": "application/json" },
      body: fields === undefined ? undefined : JSON.stringify(fields),
      credentials: "same-origin",
      cache: "no-store",
      signal,
      keepalive, // goes out even where the page is being left
    });
  } catch {
    throw new Refused("The lab's program does not answer; look at the terminal in which linklab lab runs.");
  }
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(said.error || `The server answered ${answer.status}.`, answer.status);
  return said;
}

export async function text(path) {
  const answer = await fetch(at(path), { credentials: "same-origin" });
  if (!answer.ok) throw new Refused((await answer.json().catch(() => ({}))).error || `The server answered ${answer.status}.`);
  return answer.text();
}

const AGAIN_MS = [250, 500, 1000, 2000, 4000];

// If what was delivered has no answer after this time, the connection counts as lost, though nobody has closed it.
const ANSWER_MS = 8000;

// A random word, by which the server tells this page from others.
function drawn() {
  return [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(16)).join("-");
}

// A socket that is opened again when it is lost, unless the server closed it with a code of ours (4400 and above).
// What is sent while it is lost is dropped. What is delivered, such as keys, has a number and is kept until the server
// confirms it; the rest is sent again, and the server leaves out what it has taken already.
export function socket(path, { binary = false, onMessage, onOpen = () => {}, onLost = () => {} }) {
  const by = drawn();
  let current = null;
  let kept = [];
  let count = 0;
  let watch = 0;
  let tries = 0;
  let over = false;
  const isOpen = () => current.readyState === WebSocket.OPEN;
  const lose = (ended) => {
    clearTimeout(watch);
    watch = 0;
    over = ended;
    if (over) kept = [];
    onLost(over);
    if (!over) setTimeout(connect, AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)]);
  };
  // The first of what is kept is to be answered in time; each answer begins the time anew.
  const expectAnswer = () => {
    clearTimeout(watch);
    watch = 0;
    const watched = current;
    if (kept.length) watch = setTimeout(() => {
      if (watched !== current || !isOpen()) return;
      current.onclose = current.onmessage = null; // a connection that is dead takes minutes to say so
      current.close();
      lose(false);
    }, ANSWER_MS);
  };
  const connect = () => {
    if (over) return; // it was closed while it was lost
    const url = new URL(at(path), location.href);
    url.protocol = url.protocol.replace("http", "ws");
    current = new WebSocket(url);
    if (binary) current.binaryType = "arraybuffer";
    current.onopen = () => {
      tries = 0;
      onOpen();
      for (const fields of kept) current.send(JSON.stringify(fields));
      expectAnswer();
    };
    current.onmessage = (message) => onMessage(message.data);
    current.onclose = (event) => {
      if (!over) lose(event.code >= 4000);
    };
  };
  connect();
  return {
    send(fields) {
      if (isOpen()) current.send(JSON.stringify(fields));
    },
    deliver(fields) {
      if (over) return;
      const numbered = { ...fields, by, number: (count += 1) };
      kept.push(numbered);
      if (!isOpen()) return;
      current.send(JSON.stringify(numbered));
      if (!watch) expectAnswer();
    },
    taken(number) {
      kept = kept.filter((fields) => fields.number > number);
      expectAnswer();
    },
    close() {
      over = true;
      clearTimeout(watch);
      current.close();
    },
  };
}
