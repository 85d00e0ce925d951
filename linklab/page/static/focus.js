// Where the focus goes when what has it disappears: a browser gives it to the page's body, from where Tab begins at the top.
// Redraws, buttons that are hidden or disabled, and terminals that are closed elsewhere are all seen here, so no part of the
// page has to think of them.

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

const isThere = (element) => element.isConnected && !element.disabled && element.checkVisibility({ visibilityProperty: true });
const inside = (element) => [...element.querySelectorAll(FOCUSABLE)].filter((one) => one.tabIndex >= 0 && isThere(one));

let held = null;
let around = []; // what it is in, from the inside outwards, each with its place among what there can have the focus

function hold(element) {
  held = element === document.body ? null : element;
  around = [];
  for (let one = held?.parentElement; one && one !== document.body; one = one.parentElement) {
    around.push([one, inside(one).indexOf(held)]);
    if (one.matches("main, [role=region], section, header")) break;
  }
}

// To what stands in its place now, else to what is nearest around it.
function restore() {
  for (const [element, at] of around) {
    if (!isThere(element)) continue;
    const others = inside(element);
    const to = others[Math.min(Math.max(at, 0), others.length - 1)] || element.closest("[tabindex]");
    if (!to) continue;
    to.focus({ preventScroll: true });
    if (document.activeElement === to) return;
  }
}

export function start() {
  let waits = false;
  document.addEventListener("focusin", (event) => hold(event.target));
  // A click beside everything gives the focus up on purpose.
  document.addEventListener("click", () => hold(document.activeElement), true);
  new MutationObserver(() => {
    if (waits || !held) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      const now = document.activeElement;
      if (held && !isThere(held) && (now === document.body || now === held || now === null)) restore();
    });
  }).observe(document.body, {
    subtree: true, childList: true, attributes: true, attributeFilter: ["hidden", "disabled", "open"],
  });
}
