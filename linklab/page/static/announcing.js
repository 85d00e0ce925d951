// Says sentences through one live region. A browser reads out only what the region has last, so what comes in quick
// succession, such as two steps that are done at once, is said together; and a sentence is also said a second time.
const TOGETHER_MS = 100;
const AGAIN = "\u00a0"; // behind a sentence that the region has already: without a change nothing is read out

export function announcer(region) {
  let waiting = [];
  const say = () => {
    const text = waiting.join(" ");
    waiting = [];
    region.textContent = text === region.textContent ? text + AGAIN : text;
  };
  return (text) => {
    if (!text) {
      if (!waiting.length) region.textContent = "";
      return;
    }
    if (!waiting.length) setTimeout(say, TOGETHER_MS);
    if (waiting.at(-1) !== text) waiting.push(text);
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
