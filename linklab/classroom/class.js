// The instructor's page: renews the table, and says in one sentence what has changed.
const AGAIN_MS = 10_000;
const table = document.querySelector("table");
const body = table.tBodies[0];
const say = (id, text) => {
  const element = document.getElementById(id);
  if (element.textContent !== text) element.textContent = text;
};

function line(row) {
  const tr = document.createElement("tr");
  if (row.stuck) tr.className = "stuck";
  const cell = (name, text, number) => {
    const element = document.createElement(name);
    element.textContent = text;
    if (number) element.className = "number";
    if (name === "th") element.scope = "row";
    tr.append(element);
  };
  cell("th", row.name);
  cell("td", row.stuck || (row.gone ? "not here now" : ""));
  cell("td", row.heading);
  cell("td", row.step);
  cell("td", `${row.done} of ${row.steps}`, true);
  cell("td", row.here_min, true);
  cell("td", row.wrong, true);
  return tr;
}

async function renew() {
  try {
    const answer = await fetch(table.dataset.rows, { credentials: "same-origin", cache: "no-store" });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.error);
    body.replaceChildren(...said.rows.map(line));
    const here = said.rows.filter((row) => !row.gone);
    const stuck = here.filter((row) => row.stuck).map((row) => row.name);
    const names = stuck.length ? `: ${stuck.join(", ")}` : "";
    say("summary", `${here.length} here, ${stuck.length} may need help${names}.`);
    say("problem", "");
  } catch (error) {
    say("problem", `The table is not renewed: ${error.message}`);
  }
  setTimeout(renew, AGAIN_MS);
}

renew();
