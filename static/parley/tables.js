// Sortable, filterable tables; the choices survive new frames.
"use strict";

const FEW = 3;      // tables with so few rows have no filter

const chosen = {};   // by table: {column, down, words, only: {column: entry}}

// A cell's value: that of a control in it, else its text.
const textOf = (cell) => cell.querySelector("input")?.value ?? cell.textContent;

// The number that a text consists of; an amount may have a unit.
function amountIn(text) {
  const found = text.trim().match(/^[$€£]?(-?[\d,]*\.?\d+)(%|\s\p{L}+)?$/u);
  return found ? Number(found[1].replaceAll(",", "")) : NaN;
}

// What a cell lists: "2 × A1, 1 × B2" lists A1 and B2.
const listed = (cell) => cell.textContent.split(",").map((entry) => entry.replace(/^.*×/, "").trim()).filter(Boolean);

function compare(a, b) {
  const [x, y] = [amountIn(textOf(a)), amountIn(textOf(b))];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
  return textOf(a).localeCompare(textOf(b), undefined, { numeric: true });
}

function arrange(table) {
  const { column = null, down = false, words = "", only = {} } = chosen[table.dataset.sortable] ?? {};
  const body = table.tBodies[0], rows = [...body.rows];
  rows.forEach((row, place) => { row.dataset.place ??= place; });
  rows.sort((a, b) => column === null ? a.dataset.place - b.dataset.place : compare(a.cells[column], b.cells[column]));
  if (down) rows.reverse();
  body.append(...rows);
  [...table.tHead.rows[0].cells].forEach((cell, at) => {
    cell.setAttribute("aria-sort", at !== column ? "none" : down ? "descending" : "ascending");
    cell.firstElementChild.disabled = false;
  });
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const limits = Object.entries(only).filter(([, entry]) => entry);
  for (const row of rows) {
    const fits = limits.every(([at, entry]) => listed(row.cells[at]).includes(entry));
    row.hidden = !fits || !wanted.every((word) => row.textContent.toLowerCase().includes(word));
  }
  const filter = table.closest("section").querySelector(".filter");
  filter.hidden = rows.length <= FEW && !filter.querySelector("select");
  const field = filter.querySelector("input");
  if (field && field !== document.activeElement) field.value = words;
  for (const menu of filter.querySelectorAll("select")) fill(menu, table, rows, { column, down, only });
  const left = rows.filter((row) => !row.hidden).length;
  const narrowed = wanted.length || limits.length;
  filter.querySelector("[data-found]").textContent = narrowed ? `${left} ${table.dataset.of} ${rows.length}` : "";
}

// A menu of what a column lists ("data-only"), or of the columns to sort by ("data-order").
function fill(menu, table, rows, { column, down, only }) {
  const at = menu.dataset.only;
  if (menu.options.length === 1) {
    const heads = [...table.tHead.rows[0].cells].map((cell, place) => [place, cell.textContent.trim()]);
    const choices = at === undefined ? heads : [...new Set(rows.flatMap((row) => listed(row.cells[at])))]
      .sort((a, b) => a.localeCompare(b, undefined, { numeric: true })).map((entry) => [entry, entry]);
    for (const [value, shown] of choices) menu.add(new Option(shown, value));
  }
  menu.value = at === undefined ? (down ? "" : column ?? "") : only[at] ?? "";
}

const tableOf = (part) => part.closest("section")?.querySelector("table[data-sortable]");

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-sort]");
  if (!button) return;
  const table = tableOf(button), at = button.parentElement.cellIndex, kept = chosen[table.dataset.sortable] ?? {};
  const again = kept.column === at;
  chosen[table.dataset.sortable] = again && kept.down ? { ...kept, column: null, down: false } : { ...kept, column: at, down: again };
  arrange(table);
});

document.addEventListener("input", (event) => {
  if (!event.target.matches("input[data-filter]")) return;
  const table = tableOf(event.target);
  chosen[table.dataset.sortable] = { ...chosen[table.dataset.sortable], words: event.target.value };
  arrange(table);
});

document.addEventListener("change", (event) => {
  const menu = event.target.closest("select[data-only], select[data-order]");
  const table = menu && tableOf(menu);
  if (!table) return;
  const kept = chosen[table.dataset.sortable] ?? {};
  chosen[table.dataset.sortable] = menu.dataset.only === undefined
    ? { ...kept, column: menu.value === "" ? null : Number(menu.value), down: false }
    : { ...kept, only: { ...kept.only, [menu.dataset.only]: menu.value } };
  arrange(table);
});

// A new frame resets the order and may have other rows.
document.addEventListener("parley:screen", () => {
  for (const table of document.querySelectorAll("table[data-sortable]")) {
    [...table.tBodies[0].rows].forEach((row) => delete row.dataset.place);
    arrange(table);
  }
});
