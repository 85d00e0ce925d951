// Where the focus goes when the element that has it disappears; a browser would give it to the page's body, and Tab would
// begin at the top again. This covers redraws, buttons that are hidden or disabled, and terminals that are closed elsewhere,
// so no other part of the page has to handle them. And where Tab leads is brought into view as a whole: Firefox leaves an
// element where it is if any of it is in view, also under what sticks to the top.

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

const isThere = (element) => element.isConnected && !element.disabled && element.checkVisibility({ visibilityProperty: true });
const inside = (element) => [...element.querySelectorAll(FOCUSABLE)].filter((one) => one.tabIndex >= 0 && isThere(one));

let held = null;
let around = []; // the elements around it, innermost first, each with its index among those there that can have the focus

function hold(element) {
  held = element === document.body ? null : element;
  around = [];
  for (let one = held?.parentElement; one && one !== document.body; one = one.parentElement) {
    around.push([one, inside(one).indexOf(held)]);
    if (one.matches("main, [role=region], section, header")) break;
  }
}

// Moves the focus to what stands in its place now, else to the nearest element around it.
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
  document.addEventListener("keyup", (event) => {
    if (event.key === "Tab" && held) held.scrollIntoView({ block: "nearest" });
  });
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
