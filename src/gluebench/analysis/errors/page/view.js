// The page: everything in it is made as elements and text, so that no example can be taken for markup.
const DATA = JSON.parse(document.getElementById("data").textContent);
const PER_PAGE = 25;
const FILTERS = ["file", "system", "show", "gold", "answer", "phenomenon", "part", "length", "overlap", "text"];
const byId = (id) => document.getElementById(id);
let current = 0;

function make(name, attributes, ...children) {
  const svg = ["svg", "rect", "line"].includes(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "onclick") element.addEventListener("click", value);
    else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function options(id, pairs) {
  const select = byId(id), before = select.value;
  select.replaceChildren(...pairs.map((pair) => Array.isArray(pair[1])
    ? make("optgroup", { label: pair[0] }, ...pair[1].map(([value, text]) => make("option", { value }, text)))
    : make("option", { value: pair[0] }, pair[1])));
  select.value = before;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  return select;
}

function currentFile() { return DATA.files[Number(byId("file").value)]; }

function fillFile() {
  const file = currentFile(), any = ["", "any"];
  const labels = file.labels.map(([word, gloss]) => [word, gloss && gloss !== word ? word + ": " + gloss : word]);
  options("system", file.systems.map((name, number) => [String(number), name]));
  const alone = file.systems.length === 1 ? ["only", "allwrong", "disagree"] : [];
  options("show", Object.entries(SHOWS).filter(([key]) => !alone.includes(key)).map(([key, [text]]) => [key, text]));
  options("gold", [any, ...labels]);
  options("answer", [any, ...labels]);
  options("length", [any, ...file.lengths.map(([low, high], band) => [String(band), lengthName(low, high)])]);
  options("overlap", [any, ...Array.from({ length: file.bands }, (_, band) => [String(band), overlapName(file, band)])]);
  const coarse = [...new Set(file.phenomena.map(([name]) => name))];
  options("phenomenon", [any, ...coarse.map((category) => [category, [["=" + category, "all of " + category],
    ...file.phenomena.flatMap(([of, name], tag) => (of === category ? [[String(tag), name]] : []))]])]);
  options("part", [any, ...file.about.map((column, number) => [column,
    [...new Set(file.cases.map((row) => row[ABOUT][number]))].filter(Boolean).map((value) => [column + "\u0000" + value, value])])]);
  for (const [id, there] of [["gold", labels.length], ["answer", labels.length], ["phenomenon", coarse.length],
    ["part", file.about.length], ["overlap", file.bands]]) byId(id).closest(".field").hidden = !there;
}

function state() {
  const found = Object.fromEntries(FILTERS.map((id) => [id, byId(id).value]));
  return { ...found, system: Number(found.system) };
}

function draw() {
  const file = currentFile(), wanted = state(), rows = population(file, wanted), shown = chosen(file, rows, wanted);
  byId("count").textContent = shown.length.toLocaleString("en") + " of " + file.cases.length.toLocaleString("en") +
    " examples: " + SHOWS[wanted.show][0] + " (" + file.systems[wanted.system] + ", " + file.name + ", " + file.split + ")";
  byId("plots").replaceChildren(...breakdowns(file, rows).map((part) => plot(file, part)));
  byId("confusion").replaceChildren(...(file.labels.length ? [matrix(file, rows, wanted)]
    : [make("p", { class: "note" }, "The answers are numbers: there are no labels to confuse.")]));
  const pages = Math.max(1, Math.ceil(shown.length / PER_PAGE));
  current = Math.min(current, pages - 1);
  byId("list").replaceChildren(...shown.slice(current * PER_PAGE, (current + 1) * PER_PAGE).map((row) => card(file, row)));
  byId("where").textContent = "Page " + (current + 1) + " of " + pages;
  byId("previous").disabled = current === 0;
  byId("next").disabled = current >= pages - 1;
  keep();
}

function plot(file, part) {
  const head = [part.title === "All" ? "which" : part.title.replace(/^By /, ""), "system", "plot", "share", "95 % interval", "wrong", "examples"];
  const body = part.rows.flatMap((each) => file.systems.map((system, number) => {
    const cells = [];
    if (number === 0) cells.push(make("th", { scope: "rowgroup", rowspan: file.systems.length }, picker(each)));
    const bar = each.bars[number], share = each.wrong[number] / each.n;
    cells.push(make("td", {}, system), make("td", { class: "plot" }, drawing(share, bar)), figure(percent(share)),
      make("td", { class: "number" }, bar ? percent(bar[0]) + " to " + percent(bar[1]) : "too few to say"),
      figure(each.wrong[number]), figure(each.n));
    return make("tr", {}, ...cells);
  }));
  const columns = head.map((text, number) => make("th", { scope: "col", class: number > 2 ? "number" : "" }, text));
  return make("div", {}, make("h3", {}, part.title), make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": part.title },
    make("table", {}, make("thead", {}, make("tr", {}, ...columns)), make("tbody", {}, ...body))));
}

function picker(each) {
  if (!each.filter) return each.name;
  return make("button", { type: "button", class: "pick", onclick: () => {
    byId(each.filter[0]).value = each.filter[1];
    current = 0;
    draw();
    byId("count").scrollIntoView({ block: "center" });
    byId(each.filter[0]).focus();
  } }, each.name);
}

// The plot says nothing that its row does not: it is left out for screen readers.
function drawing(share, bar) {
  const svg = make("svg", { viewBox: "0 0 200 18", preserveAspectRatio: "none", "aria-hidden": "true" },
    make("rect", { class: "track", x: 0, y: 1, width: 200, height: 16 }),
    make("rect", { class: "bar", x: 0, y: 4, width: 200 * share, height: 10 }));
  if (bar) svg.append(make("line", { class: "whisker", x1: 200 * bar[0], x2: 200 * bar[1], y1: 9, y2: 9 }));
  return svg;
}

function figure(value) { return make("td", { class: "number" }, value.toLocaleString("en")); }
function percent(share) { return (100 * share).toFixed(1) + " %"; }

function matrix(file, rows, wanted) {
  const counts = confusion(file, rows, wanted.system), words = file.labels.map(([word]) => word);
  const head = make("tr", {}, make("th", { scope: "col" }, "gold, down; answer, across"),
    ...words.map((word) => make("th", { scope: "col", class: "number" }, word)));
  const body = counts.map((line, gold) => {
    const total = Math.max(1, line.reduce((sum, each) => sum + each, 0));
    return make("tr", {}, make("th", { scope: "row" }, words[gold]), ...line.map((count, answer) => {
      const shade = Math.min(3, Math.floor((4 * count) / total)), same = gold === answer ? " diagonal" : "";
      return make("td", { class: "number cell-" + shade + same }, count.toLocaleString("en"));
    }));
  });
  return make("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Labels and answers of " + file.systems[wanted.system] },
    make("table", {}, make("caption", {}, "Answers of " + file.systems[wanted.system] + "; right ones in bold, shaded within each row."),
      make("thead", {}, head), make("tbody", {}, ...body)));
}

function card(file, row) {
  const shared = byId("marks").checked && file.bands ? sharedWords(row[TEXTS]) : new Set();
  const gloss = Object.fromEntries(file.labels);
  const told = (value) => (gloss[value] && gloss[value] !== value ? value + " (" + gloss[value] + ")" : String(value));
  const texts = row[TEXTS].flatMap((text, number) => [make("dt", {}, file.columns[number]), make("dd", {}, ...marked(text, shared))]);
  const answers = file.systems.map((system, number) => make("li", { class: row[WRONG][number] ? "is-wrong" : "is-right" },
    (row[WRONG][number] ? "\u2717 wrong: " : "\u2713 right: ") + system + " answers " + told(row[ANSWERS][number])));
  const tags = row[TAGS].map((tag) => file.phenomena[tag][1]);
  const facts = [...tags, ...row[ABOUT].filter(Boolean), row[LENGTH] + " words"];
  if (row[OVERLAP] !== null) facts.push(Math.round(100 * row[OVERLAP]) + " % overlap");
  return make("li", { class: "example" }, make("h3", {}, "Example " + row[INDEX] + ", gold: " + told(row[GOLD])),
    make("dl", {}, ...texts), make("ul", { class: "answers" }, ...answers), make("p", { class: "meta" }, facts.join(" \u00b7 ")));
}

const WORD = /[\p{L}\p{N}_]+(?:['\u2019][\p{L}\p{N}_]+)?/gu;
function sharedWords(texts) {
  const [one, two] = texts.map((text) => new Set((text.match(WORD) || []).map((word) => word.toLowerCase())));
  return new Set([...one].filter((word) => two.has(word)));
}

function marked(text, shared) {
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(WORD)) {
    if (!shared.has(found[0].toLowerCase())) continue;
    parts.push(text.slice(end, found.index), make("mark", {}, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}

// The filters stand in the address, so that a view can be bookmarked and sent.
function keep() {
  const named = FILTERS.map((id) => [id, byId(id).value]).filter(([, value]) => value !== "");
  history.replaceState(null, "", "#" + new URLSearchParams(named));
}

function restore() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("file")) byId("file").value = given.get("file");
  if (byId("file").selectedIndex < 0) byId("file").selectedIndex = 0;
  fillFile();
  for (const id of FILTERS.slice(1)) {
    const field = byId(id);
    field.value = given.get(id) || "";
    if (field.selectedIndex < 0) field.selectedIndex = 0;
  }
}

function begin() {
  options("file", DATA.files.map((file, number) => [String(number), file.name + " (" + file.split + ")"]));
  restore();
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("input", (event) => { current = 0; if (event.target.id === "file") fillFile(); draw(); });
  byId("filters").addEventListener("reset", () => setTimeout(() => { current = 0; fillFile(); draw(); }));
  byId("marks").addEventListener("change", draw);
  for (const [id, step] of [["previous", -1], ["next", 1]]) {
    byId(id).addEventListener("click", () => { current += step; draw(); byId("examples").focus(); });
  }
  byId("app").hidden = false;
  draw();
}
begin();
