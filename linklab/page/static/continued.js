// A lab that goes on where it was left: what is there again, what is not, and a button for each line that ran then.
import { make } from "./elements.js";

const CLOSED = "linklab-continued";

export function start(element, context) {
  context.onEvent("continued", (event) => {
    if (sessionStorage.getItem(CLOSED) === String(event.at)) return;
    const section = make("section", { id: "continued", "aria-labelledby": "continued-title" });
    const list = (sentences) => make("ul", {}, ...sentences.map((text) => make("li", {}, text)));
    section.append(make("h2", { id: "continued-title" }, "Where you left off"));
    section.append(list(event.done.length ? event.done : ["Nothing had been set in the network."]));
    if (event.missing.length) section.append(make("p", {}, "Not as it was:"), list(event.missing));
    if (event.again.length) {
      section.append(make("p", {}, "This ran when you left, and does not run now:"), make("ul", {}, ...event.again.map((line) =>
        make("li", {}, make("code", {}, line.text), " ", make("button", {
          type: "button",
          "aria-label": `Put ${line.text} into a terminal of ${line.node}`,
          onclick: () => context.openTerminal(line.node, line.text, { enter: false }),
        }, `Put it into a terminal of ${line.node}`)))));
    }
    section.append(make("button", {
      type: "button",
      onclick: () => {
        section.remove();
        sessionStorage.setItem(CLOSED, String(event.at));
        element.focus();
      },
    }, "Close"));
    document.getElementById("continued")?.remove();
    element.prepend(section);
  });
}
