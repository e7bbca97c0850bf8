"use strict";
// What is shown is worked out here, without the page: filters, counts and intervals.
const INDEX = 0, TEXTS = 1, GOLD = 2, ANSWERS = 3, WRONG = 4, TAGS = 5, ABOUT = 6, GROUP = 7, LENGTH = 8, OVERLAP = 9;
const FEWEST_UNITS = 8, Z = 1.959963984540054;
const SHOWS = {
  wrong: ["wrong", (wrong, system) => wrong[system]],
  right: ["right", (wrong, system) => !wrong[system]],
  only: ["wrong, every other system right",
    (wrong, system) => wrong[system] && wrong.every((each, other) => other === system || !each)],
  allwrong: ["every system is wrong", (wrong) => wrong.every(Boolean)],
  disagree: ["systems answer differently", null],
  all: ["all", () => true],
};

function disagreed(row) {
  const values = typeof row[GOLD] === "string" ? row[ANSWERS] : row[WRONG];
  return new Set(values).size > 1;
}

function lengthBand(file, row) {
  return file.lengths.findIndex(([low, high]) => row[LENGTH] >= low && row[LENGTH] <= high);
}

function overlapBand(file, row) {
  return row[OVERLAP] === null ? -1 : Math.min(Math.floor(row[OVERLAP] * file.bands + 1e-9), file.bands - 1);
}

// The rows that figures are counted over: every filter but what was answered, and whether that is right.
function population(file, state) {
  const text = state.text.toLowerCase();
  const tags = state.phenomenon === "" ? null : new Set(tagNumbers(file, state.phenomenon));
  const part = state.part === "" ? null : state.part.split("\u0000");
  return file.cases.filter((row) =>
    (state.gold === "" || String(row[GOLD]) === state.gold) &&
    (!tags || row[TAGS].some((tag) => tags.has(tag))) &&
    (!part || row[ABOUT][file.about.indexOf(part[0])] === part[1]) &&
    (state.length === "" || lengthBand(file, row) === Number(state.length)) &&
    (state.overlap === "" || overlapBand(file, row) === Number(state.overlap)) &&
    (text === "" || row[TEXTS].some((each) => each.toLowerCase().includes(text))));
}

// A phenomenon's number, or those of a coarse category, written "=name".
function tagNumbers(file, value) {
  if (value[0] !== "=") return [Number(value)];
  return file.phenomena.flatMap(([coarse], number) => (coarse === value.slice(1) ? [number] : []));
}

function chosen(file, rows, state) {
  const outcome = SHOWS[state.show][1];
  return rows.filter((row) =>
    (outcome ? outcome(row[WRONG], state.system) : disagreed(row)) &&
    (state.answer === "" || String(row[ANSWERS][state.system]) === state.answer));
}

// As `scoring.intervals` has it: Wilson's, or where examples come in groups that of as many independent ones as
// they are worth, by the jackknife over groups.
function interval(rows, system, hits) {
  const n = rows.length;
  if (!rows.some((row) => row[GROUP] !== null)) return n < FEWEST_UNITS ? null : wilson(hits, n, hits, n, Z);
  const groups = new Map();
  rows.forEach((row, number) => {
    const name = row[GROUP] === null ? "row " + number : row[GROUP];
    const group = groups.get(name) || { hits: 0, size: 0 };
    groups.set(name, { hits: group.hits + (row[WRONG][system] ? 1 : 0), size: group.size + 1 });
  });
  const all = [...groups.values()], units = all.length, share = hits / n;
  if (units < FEWEST_UNITS) return null;
  let effect = all.reduce((sum, group) => sum + group.size ** 2, 0) / n;
  if (hits > 0 && hits < n) {
    const squares = all.reduce((sum, group) => sum + ((group.hits - share * group.size) / (n - group.size)) ** 2, 0);
    effect = Math.max(1, (squares * (units - 1) / units) * n / (share * (1 - share)));
  }
  return wilson(hits / effect, n / effect, hits, n, student(units - 1));
}

function wilson(hits, n, seenHits, seen, z) {
  const share = hits / n, middle = share + (z * z) / (2 * n);
  const margin = z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n)), scale = 1 + (z * z) / n;
  return [seenHits === 0 ? 0 : Math.max(0, (middle - margin) / scale),
    seenHits === seen ? 1 : Math.min(1, (middle + margin) / scale)];
}

// 97.5 % point of Student's t (Abramowitz and Stegun 26.7.5).
function student(freedom) {
  const z = Z;
  return [(z ** 3 + z) / 4, (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96,
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384,
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / 92160]
    .reduce((sum, term, power) => sum + term / freedom ** (power + 1), z);
}

function rate(name, filter, rows, systems) {
  const wrong = systems.map((_, system) => rows.filter((row) => row[WRONG][system]).length);
  return { name, filter, n: rows.length, wrong, bars: wrong.map((count, system) => interval(rows, system, count)) };
}

// Every breakdown that the file has, as {title, column, rows}; rows without an example are left out.
function breakdowns(file, rows) {
  const systems = file.systems, found = [];
  const add = (title, named) => {
    const filled = named.map(([name, filter, of]) => rate(name, filter, rows.filter(of), systems));
    const shown = filled.filter((each) => each.n > 0);
    if (shown.length) found.push({ title, rows: shown });
  };
  add("All", [["all examples left", null, () => true]]);
  add("By gold label", file.labels.map(([word, gloss]) =>
    [gloss && gloss !== word ? word + " (" + gloss + ")" : word, ["gold", word], (row) => row[GOLD] === word]));
  add("By length", file.lengths.map(([low, high], band) =>
    [lengthName(low, high), ["length", String(band)], (row) => lengthBand(file, row) === band]));
  add("By overlap of the two texts", Array.from({ length: file.bands }, (_, band) =>
    [overlapName(file, band), ["overlap", String(band)], (row) => overlapBand(file, row) === band]));
  file.about.forEach((column, number) => {
    const values = [...new Set(file.cases.map((row) => row[ABOUT][number]))].filter(Boolean);
    add("By " + column, values.map((value) =>
      [value, ["part", column + "\u0000" + value], (row) => row[ABOUT][number] === value]));
  });
  add("By phenomenon", file.phenomena.map(([, name], tag) =>
    [name, ["phenomenon", String(tag)], (row) => row[TAGS].includes(tag)]));
  return found;
}

function lengthName(low, high) {
  return low === high ? low + " words" : low + " to " + high + " words";
}

function overlapName(file, band) {
  return Math.round((100 * band) / file.bands) + " to " + Math.round((100 * (band + 1)) / file.bands) + " %";
}

function confusion(file, rows, system) {
  const words = file.labels.map(([word]) => word);
  return words.map((gold) =>
    words.map((answer) => rows.filter((row) => row[GOLD] === gold && row[ANSWERS][system] === answer).length));
}
