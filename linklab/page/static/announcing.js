// What the page says aloud: one polite log for all of it, so that a screen reader says everything, in the order in which
// it happens. An assertive region would cut off what a polite one has just begun, such as that a step is done.
import { make } from "./elements.js";

const MOST = 50; // kept to be read again at the end of the page

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
