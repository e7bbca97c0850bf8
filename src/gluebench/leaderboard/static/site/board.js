// Rows that open in place. Without this script the same link leads to the submission's page.
const table = document.querySelector("table.board");
let count = 0;

for (const link of table?.querySelectorAll("a.expand") ?? []) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "expand";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", link.getAttribute("aria-label"));
  button.dataset.detail = link.dataset.detail;
  button.dataset.page = link.href;
  button.append(...link.childNodes);
  link.replaceWith(button);
}

table?.addEventListener("click", async (event) => {
  const button = event.target.closest("button.expand");
  if (!button) return;
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(open));
  const row = document.getElementById(button.getAttribute("aria-controls")) ?? addRow(button);
  row.hidden = !open;
  if (open && !row.dataset.filled) await fill(row, button);
});

function addRow(button) {
  const above = button.closest("tr");
  const row = document.createElement("tr");
  row.className = "detail-row";
  row.id = `detail-${++count}`;
  const cell = row.insertCell();
  cell.colSpan = above.cells.length;
  button.setAttribute("aria-controls", row.id);
  above.after(row);
  return row;
}

async function fill(row, button) {
  row.cells[0].textContent = "Loading …";
  const answer = await fetch(button.dataset.detail).catch(() => null);
  if (!answer?.ok) {
    window.location.assign(button.dataset.page);
    return;
  }
  row.cells[0].innerHTML = await answer.text();
  row.dataset.filled = "1";
}
