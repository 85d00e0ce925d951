// Lines of an xterm.js buffer, each of which may take several rows of the screen.

// The line that takes this row, without the spaces at its end.
export function lineAt(buffer, row) {
  let first = row, last = row;
  while (first > 0 && buffer.getLine(first)?.isWrapped) first -= 1;
  while (buffer.getLine(last + 1)?.isWrapped) last += 1;
  let whole = "";
  for (let at = first; at <= last; at += 1) whole += buffer.getLine(at)?.translateToString(at === last) ?? "";
  return whole;
}

// The line in which the cursor is.
export function lineOfCursor(buffer) {
  return lineAt(buffer, buffer.baseY + buffer.cursorY);
}

// All lines, down to the last that is not empty.
export function allLines(buffer) {
  const lines = [];
  for (let row = 0; row < buffer.length; row += 1) {
    if (!buffer.getLine(row).isWrapped || row === 0) lines.push(lineAt(buffer, row));
  }
  while (lines.length && !lines.at(-1)) lines.pop();
  return lines;
}
