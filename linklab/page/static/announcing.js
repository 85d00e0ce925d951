// What the page says aloud: one polite log for all of it, so that a screen reader says everything, in the order in which
// it happens. An assertive region would cut off what a polite one has just begun, such as that a step is done.
import { make } from "./elements.js";

const MOST = 50; // kept to be read again at the end of the page
const MOST_LETTERS = 400; // of a longer text

// Gives what says a sentence; region: a log, of which readers say what is added.
export function announcer(region) {
  return (text) => {
    if (!text) return;
    region.append(make("p", {}, text));
    while (region.children.length > MOST) region.firstElementChild.remove();
  };
}

// A piece of text as a sentence, for what stands in a row with others; "" of none.
export function sentence(text) {
  return !text || /[.:!?]$/.test(text) ? text || "" : `${text}.`;
}

// The first sentence of a piece of Markdown or text; "" where it begins with a block.
export function firstSentence(text) {
  const line = text.trim().split("\n")[0];
  return line.startsWith("```") ? "" : sentence(line.split(/(?<=[.:!?])\s+(?=[\p{Lu}“])/u)[0].replaceAll("`", ""));
}

// A text of several blocks, of which one may be a formula in the midst of a sentence: whole, or its first sentences.
export function beginning(text) {
  const whole = text.replace(/\s+/g, " ").trim();
  if (whole.length <= MOST_LETTERS) return sentence(whole);
  const end = whole.lastIndexOf(". ", MOST_LETTERS);
  return end > 0 ? whole.slice(0, end + 1) : `${whole.slice(0, MOST_LETTERS)}…`;
}
