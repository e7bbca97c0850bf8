// A board that sorts, searches and opens in place; the address keeps what was chosen. Without this script its
// headings, its search box and its rows are links and a form that do the same.
const table = document.getElementById("board");
const tally = document.getElementById("tally");
const search = document.getElementById("board-search");
// A frozen copy has no server: its rows do not open in place, and its address has no answer.
const isCopy = search?.dataset.copy !== undefined;
if (isCopy) search.hidden = table?.dataset.whole === undefined;
const FIRST = 60;
// Rows of a sort that are laid out at once, or more on a tall screen; the rest follow after a frame, since a
// thousand take half a second.

// Rows that open in place.
for (const row of isCopy ? [] : table?.querySelectorAll("tbody tr") ?? []) {
  const link = nameLink(row);
  if (!link) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "expand";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", `Details of ${link.textContent}, ${modelOf(row).textContent}`);
  row.cells[0].append(button);
}

table?.addEventListener("click", async (event) => {
  const button = event.target.closest("button.expand");
  if (!button) return;
  const open = button.getAttribute("aria-expanded") !== "true";
  button.setAttribute("aria-expanded", String(open));
  const row = document.getElementById(button.getAttribute("aria-controls")) ?? addRow(button);
  row.hidden = !open;
  // A phone leaves columns out, and a cell that spans them too would squeeze those that it shows.
  row.cells[0].colSpan = [...lastHeads()].filter((head) => head.offsetWidth).length;
  if (open && !row.dataset.filled) await fill(row, button.closest("tr"));
});

let count = 0;

function addRow(button) {
  const above = button.closest("tr");
  const row = document.createElement("tr");
  row.className = "detail-row";
  row.id = `detail-${++count}`;
  row.insertCell();
  button.setAttribute("aria-controls", row.id);
  above.after(row);
  return row;
}

async function fill(row, above) {
  const page = nameLink(above).href;
  row.cells[0].textContent = "Loading …";
  const answer = await fetch(`${page}/detail`).catch(() => null);
  if (!answer?.ok) {
    window.location.assign(page);
    return;
  }
  row.cells[0].innerHTML = await answer.text();
  row.cells[0].firstElementChild.prepend(narrowCells(above));
  row.dataset.filled = "1";
}

// The numbers of the columns that a narrow window leaves out.
function narrowCells(row) {
  const list = document.createElement("dl");
  list.className = "facts narrow-only";
  for (const [at, head] of [...lastHeads()].entries()) {
    if (at < 3) continue;
    const pair = document.createElement("div");
    const title = document.createElement("dt");
    const value = document.createElement("dd");
    title.textContent = head.textContent;
    value.textContent = row.cells[at].textContent;
    pair.append(title, value);
    list.append(pair);
  }
  return list;
}

function lastHeads() {
  return table.tHead.rows[table.tHead.rows.length - 1].cells;
}

// Rows that are selected, to compare or to pin.
const picks = document.getElementById("picks");
table?.addEventListener("change", () => {
  const names = [...table.querySelectorAll(".rank :checked")].map((box) => nameLink(box.closest("tr")).textContent);
  document.getElementById("picked").textContent = `${names.length} selected: ${names.join(", ")}`;
});
picks?.addEventListener("submit", (event) => {
  if (!event.submitter?.hasAttribute("formaction")) return;
  event.preventDefault();
  const address = new URL(window.location.href);
  const pinned = (address.searchParams.get("pin") ?? "").split(",").filter(Boolean);
  const keys = new Set([...pinned, ...new FormData(picks).getAll("pin")]);
  address.searchParams.set("pin", [...keys].join(","));
  window.location.assign(address);
});

// What was chosen goes into the address, as the server writes it, so that it can be shared.
function keep(changes) {
  if (isCopy) return;
  const address = new URL(window.location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value) address.searchParams.set(name, value);
    else address.searchParams.delete(name);
  }
  window.history.replaceState(null, "", address);
}

// The files that the page offers are of the systems that a search here leaves.
function narrowFiles(words) {
  for (const link of document.querySelectorAll("[data-files] a")) {
    const address = new URL(link.href);
    if (words.length) address.searchParams.set("q", words.join(" "));
    else address.searchParams.delete("q");
    link.href = address;
  }
}

// Sorting and searching here need all rows here; the server does it for a page of a longer board.
if (table?.dataset.whole !== undefined) {
  const heads = [...lastHeads()];
  for (const head of heads) {
    const link = head.querySelector("a");
    if (link) link.replaceWith(buttonFor(link, head, heads));
  }
  const field = search?.elements.q;
  field?.addEventListener("input", () => find(field.value));
  search?.addEventListener("submit", (event) => {
    const panel = search.querySelector(".panel");
    if (panel?.contains(event.submitter) || panel?.contains(document.activeElement)) return;
    event.preventDefault();
    find(field.value);
  });
}

// Addresses are shared: what is empty is left out.
search?.addEventListener("formdata", ({ formData }) => {
  const columns = [...search.querySelectorAll("[name=columns]")];
  if (columns.every((box) => box.checked === box.defaultChecked) && !new URLSearchParams(window.location.search).has("columns")) formData.delete("columns");
  for (const [name, value] of [...formData]) if (value === "" || (name === "by" && value === "mean")) formData.delete(name);
});

function buttonFor(link, head, heads) {
  const button = document.createElement("button");
  button.type = "button";
  button.title = link.title;
  button.append(...link.childNodes);
  button.addEventListener("click", () => sort(head, heads));
  return button;
}

function sort(head, heads) {
  const words = ["name", "regime"].includes(head.dataset.sort);
  const was = head.getAttribute("aria-sort");
  const rising = was ? was === "descending" : words || "loss" in head.dataset;
  for (const each of heads) each.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", rising ? "ascending" : "descending");
  const usual = words || "loss" in head.dataset;
  keep({ sort: head.dataset.sort, order: rising === usual ? "" : rising ? "asc" : "desc" });
  const at = heads.indexOf(head);
  const place = table.parentElement;
  const { height } = place.getBoundingClientRect();
  const screenful = Math.ceil(window.innerHeight / (height / table.rows.length));
  // Who has scrolled on would see rows that are left for later as an empty place.
  const scrolled = table.tBodies[0].getBoundingClientRect().top < -window.innerHeight / 2;
  const bodies = table.querySelectorAll(":scope > tbody:not(.pinned)");
  const most = scrolled ? Infinity : Math.max(FIRST, 2 * screenful);
  for (const body of bodies) order(body, words ? textAt(at) : numberAt(at), rising, most);
  const later = table.querySelectorAll(".later");
  if (!later.length) return;
  place.style.minHeight = `${height}px`;
  requestAnimationFrame(() => setTimeout(() => {
    for (const row of later) row.classList.remove("later");
    place.style.minHeight = "";
  }));
}

function textAt(at) {
  return (row) => (nameLink(row) && at === 1 ? nameLink(row) : row.cells[at].firstChild)?.textContent.toLowerCase() ?? "";
}

function nameLink(row) {
  return row.querySelector("th.name > a");
}

function modelOf(row) {
  return row.querySelector(".model");
}

const FACTORS = { K: 1e3, M: 1e6, B: 1e9 };

// "−1.5", "110M" or "2026-01-31" as a number; null for none.
function numberAt(at) {
  return (row) => {
    const text = row.cells[at].textContent.replace("−", "-").replace(/^(\d{4})-(\d\d)-(\d\d)$/, "$1$2$3");
    const value = parseFloat(text) * (FACTORS[text.at(-1)] ?? 1);
    return Number.isNaN(value) ? null : value;
  };
}

// As the server sorts names: "9" before "10", "Ärger" beside "Arger".
const ALPHABETICAL = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

function order(body, keyOf, rising, most) {
  const details = new Map();
  const headings = [];
  const rows = [];
  for (const row of body.rows) {
    if (row.classList.contains("group")) headings.push(row);
    else if (row.classList.contains("detail-row")) details.set(rows.at(-1).row, row);
    else rows.push({ row, key: keyOf(row) });
  }
  const sign = rising ? 1 : -1;
  rows.sort((a, b) => {
    if (a.key === null || b.key === null) return (a.key === null) - (b.key === null);
    return sign * (typeof a.key === "string" ? ALPHABETICAL.compare(a.key, b.key) : a.key - b.key);
  });
  const sorted = rows.flatMap(({ row }) => (details.has(row) ? [row, details.get(row)] : [row]));
  // Out of the page meanwhile, and without the spaces between rows, which would gather at the top: moving
  // rows that are shown, or past a thousand spaces, takes five times as long.
  const { nextSibling } = body;
  body.remove();
  let shown = 0;
  for (const row of sorted) {
    shown += !row.hidden;
    row.classList.toggle("later", shown > most);
  }
  body.replaceChildren(...headings, ...sorted);
  table.insertBefore(body, nextSibling);
}

let whole = "";

function find(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  keep({ q: words.join(" ") });
  if (!isCopy) narrowFiles(words);
  let found = 0;
  for (const row of table.querySelectorAll(":scope > tbody:not(.pinned) > tr:not(.group, .detail-row)")) {
    row.hidden = !words.every((word) => textToSearch(row).includes(word));
    const system = !row.classList.contains("reference");
    if (system && !row.hidden) found += 1;
    const detail = row.nextElementSibling;
    if (detail?.classList.contains("detail-row")) detail.hidden = row.hidden || !isOpen(row);
  }
  whole ||= tally.textContent.trim();
  tally.textContent = words.length ? `${found} of ${whole}` : whole;
}

function textToSearch(row) {
  row.text ??= [nameLink(row) ?? row.cells[1].firstChild, modelOf(row), row.querySelector(".team > bdi")]
    .map((part) => part?.textContent ?? "").join("\n").toLowerCase();
  return row.text;
}

function isOpen(row) {
  return row.querySelector("button.expand")?.getAttribute("aria-expanded") === "true";
}
