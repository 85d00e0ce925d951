// On a class's server: the way to the list of labs, and the switch with which students show the instructor their progress.
import { make } from "./elements.js";
import * as server from "./server.js";

export function start(element, context) {
  const box = make("input", { type: "checkbox" });
  const label = make("label", { hidden: true }, box, " Show my progress to the instructor");
  const link = make("a", { hidden: true }, "All labs");
  element.prepend(link, label);
  box.addEventListener("change", async () => {
    try {
      context.announce((await server.ask("POST", "sharing", { on: box.checked })).text);
    } catch (error) {
      box.checked = !box.checked;
      context.announce(error.message, true);
    }
  });
  context.onEvent("classroom", ({ labs }) => {
    link.href = labs;
    link.hidden = false;
  });
  context.onEvent("sharing", ({ on }) => {
    box.checked = on;
    label.hidden = false;
  });
}
