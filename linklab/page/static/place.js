// Where the reader is in the manual: a page that is loaded again, as by mistake, opens there and not at the top.
const KEPT = "linklab/place";
const SETTLED_MS = 3000; // what the guide says first has come by then
const MARKS = "h2[id], h3[id], .box[id], .predict[id]";

// element: what scrolls; onEvent: of the page's context, since what the guide says of steps moves what stands below them.
export function start(element, context) {
  const kept = JSON.parse(sessionStorage.getItem(KEPT) || "null");
  const top = () => element.getBoundingClientRect().top;
  const seen = () => [...element.querySelectorAll(MARKS)].find((one) => one.getBoundingClientRect().bottom > top());
  let moved = false;
  const back = () => {
    const mark = kept && !moved && document.getElementById(kept.id);
    if (!mark) return;
    element.scrollBy({ top: mark.getBoundingClientRect().top - top() - kept.below, behavior: "instant" });
  };
  back();
  requestAnimationFrame(back);
  context.onEvent("guide", () => requestAnimationFrame(back));
  for (const kind of ["wheel", "keydown", "pointerdown", "touchstart", "click", "focusin"]) {
    addEventListener(kind, () => { moved = true; }, { capture: true, once: true, passive: true });
  }
  setTimeout(() => { moved = true; }, SETTLED_MS);
  addEventListener("pagehide", () => {
    const mark = seen();
    if (mark) sessionStorage.setItem(KEPT, JSON.stringify({ id: mark.id, below: mark.getBoundingClientRect().top - top() }));
  });
}
