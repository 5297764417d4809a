// Sortable, filterable tables, long ones in pages; the choices survive new frames.
"use strict";

const FEW = 3;      // tables with so few rows have no filter

const chosen = {};   // by table: {column, down, words, only: {column: entry}, without: class, from: first row of the page}

// A cell's value: that of a control in it, else its text.
const textOf = (cell) => cell.querySelector("input")?.value ?? cell.textContent;

const COMMA = new Intl.NumberFormat(document.documentElement.lang || "en").format(1.5).includes(",");

// The number that a text of the page consists of; an amount may have a unit.
function amountIn(text) {
  const written = COMMA ? text.replace(/[.,]/g, (mark) => mark === "," ? "." : ",") : text;
  const found = written.trim().match(/^[$€£]?(-?[\d,]*\.?\d+)(%|\s\p{L}+)?$/u);
  return found ? Number(found[1].replaceAll(",", "")) : NaN;
}

// A name as the page shows it: "Offer_1" is "Offer 1".
const named = (name) => name.replace(/\b([A-Za-z]+)_(\d+)\b/g, "$1 $2");

// What a cell lists: "2 × A1, 1 × B2" lists A1 and B2.
const listed = (cell) => cell.textContent.split(",").map((entry) => entry.replace(/^.*×/, "").trim()).filter(Boolean);

function compare(a, b) {
  const [x, y] = [amountIn(textOf(a)), amountIn(textOf(b))];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return textOf(a).localeCompare(textOf(b), undefined, { numeric: true });
}

// Rows that a game keeps above the others ("data-basket") are neither sorted nor filtered.
const listOf = (table) => table.querySelector("tbody:not([data-basket])");

// Whether a row contains every word; "A1" is not found in "A12".
function matches(row, words) {
  const text = [...row.cells].map((cell) => cell.textContent).join(" ").toLowerCase();
  return words.every((word) => new RegExp(`${word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}${/\p{L}.*\d$/u.test(word) ? "(?!\\d)" : ""}`, "u").test(text));
}

function arrange(table) {
  const { column = null, down = false, words = "", only = {}, without = "", from = 0 } = chosen[table.dataset.sortable] ?? {};
  const body = listOf(table);
  [...body.rows].forEach((row, place) => { row.dataset.place ??= place; });
  const rows = [...body.rows].sort((a, b) => column === null ? a.dataset.place - b.dataset.place : compare(a.cells[column], b.cells[column]));
  if (down) rows.reverse();
  if (rows.some((row, at) => row !== body.rows[at])) body.append(...rows);   // moving a row would take the focus from it
  [...table.tHead.rows[0].cells].forEach((cell, at) => {
    cell.setAttribute("aria-sort", at !== column ? "none" : down ? "descending" : "ascending");
    cell.firstElementChild.disabled = false;
  });
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const limits = Object.entries(only).filter(([, entry]) => entry).map(([at, entry]) => [at, entry.split("|")]);
  const fitting = rows.filter((row) => limits.every(([at, any]) => listed(row.cells[at]).some((entry) => any.includes(entry)))
    && matches(row, wanted) && !(without && row.classList.contains(without)));
  const filter = table.closest("section").querySelector(".filter");
  filter.hidden = rows.length <= FEW && !filter.querySelector("select");
  const field = filter.querySelector("input[data-filter]");
  if (field && field !== document.activeElement) field.value = words;
  for (const menu of filter.querySelectorAll("select")) fill(menu, table, { column, down, only });
  for (const box of filter.querySelectorAll("[data-without]")) box.checked = box.dataset.without === without;
  const narrowed = wanted.length || limits.length || without;
  filter.querySelector("[data-found]").textContent = narrowed ? `${fitting.length} ${table.dataset.of} ${rows.length}` : "";
  const [first, end] = page(table, fitting.length, from);
  for (const row of rows) row.hidden = true;
  for (const row of fitting.slice(first, end)) row.hidden = false;
}

// The rows of the page that begins at or before row `from`: the first, and the one after the last.
function page(table, number, from) {
  const size = Number(table.dataset.page ?? Infinity), pager = table.closest("section").querySelector("[data-pager]");
  if (!pager) return [0, number];
  const first = Math.max(0, Math.min(from, Math.ceil(number / size) * size - size)), end = Math.min(first + size, number);
  pager.hidden = number <= size;
  const place = pager.querySelector("[data-place-words]");
  place.textContent = place.dataset.placeWords.replace("FROM", first + 1).replace("TO", end).replace("ALL", number);
  for (const button of pager.querySelectorAll("[data-turn]")) button.disabled = button.dataset.turn < 0 ? !first : end === number;
  return [first, end];
}

// A menu of what a column lists ("data-only"), or of the columns to sort by ("data-order").
function fill(menu, table, { column, down, only }) {
  const at = menu.dataset.only;
  if (!menu.dataset.filled) {
    menu.dataset.filled = "1";
    const heads = [...table.tHead.rows[0].cells].map((cell, place) => [place, cell.textContent.trim()]);
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => row.cells[at]);
    const choices = at === undefined ? heads : [...new Set(rows.flatMap((row) => listed(row.cells[at])))]
      .sort((a, b) => a.localeCompare(b, undefined, { numeric: true })).map((entry) => [entry, entry]);
    for (const [value, shown] of choices) menu.add(new Option(shown, value));
  }
  menu.value = at === undefined ? (down ? "" : column ?? "") : only[at] ?? "";
}

// Keep a choice for a table, from its first page, and show it.
function choose(table, choice) {
  chosen[table.dataset.sortable] = { ...chosen[table.dataset.sortable], from: 0, ...choice };
  arrange(table);
}

const tableOf = (part) => part.closest("section")?.querySelector("table[data-sortable]");

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-sort], button[data-turn]"), table = button && tableOf(button);
  if (!table) return;
  const { column, down, from = 0 } = chosen[table.dataset.sortable] ?? {};
  if (button.dataset.turn) return choose(table, { from: from + button.dataset.turn * table.dataset.page });
  const at = button.parentElement.cellIndex, again = column === at;
  choose(table, again && down ? { column: null, down: false } : { column: at, down: again });
});

document.addEventListener("input", (event) => {
  if (event.target.matches("input[data-filter]")) choose(tableOf(event.target), { words: event.target.value });
});

document.addEventListener("change", (event) => {
  const control = event.target.closest("[data-only], [data-order], [data-without]"), table = control && tableOf(control);
  if (!table) return;
  const { only, without, order } = control.dataset;
  if (only !== undefined) choose(table, { only: { ...chosen[table.dataset.sortable]?.only, [only]: control.value } });
  else if (order !== undefined) choose(table, { column: control.value === "" ? null : Number(control.value), down: false });
  else choose(table, { without: control.checked ? without : "" });
});

// A new frame resets the order, and with it the places.
document.addEventListener("parley:screen", () => document.querySelectorAll("table[data-sortable]").forEach(arrange));
