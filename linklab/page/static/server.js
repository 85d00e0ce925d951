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

// A socket that is opened again when it is lost, unless the server closed it with a code of ours (4400 and above).
// What is sent while it is lost is dropped; what is delivered, such as keys, is kept and follows when it is open again.
export function socket(path, { binary = false, onMessage, onOpen = () => {}, onLost = () => {} }) {
  let current = null;
  let kept = [];
  let tries = 0;
  let over = false;
  const connect = () => {
    const url = new URL(at(path), location.href);
    url.protocol = url.protocol.replace("http", "ws");
    current = new WebSocket(url);
    if (binary) current.binaryType = "arraybuffer";
    current.onopen = () => {
      tries = 0;
      onOpen();
      for (const text of kept.splice(0)) current.send(text);
    };
    current.onmessage = (message) => onMessage(message.data);
    current.onclose = (event) => {
      if (over) return;
      over = event.code >= 4000;
      if (over) kept = [];
      onLost(over);
      if (!over) setTimeout(connect, AGAIN_MS[Math.min(tries++, AGAIN_MS.length - 1)]);
    };
  };
  connect();
  const isOpen = () => current.readyState === WebSocket.OPEN;
  return {
    send(fields) {
      if (isOpen()) current.send(JSON.stringify(fields));
    },
    deliver(fields) {
      if (isOpen()) current.send(JSON.stringify(fields));
      else if (!over) kept.push(JSON.stringify(fields));
    },
    close() {
      over = true;
      current.close();
    },
  };
}
