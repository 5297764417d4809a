// The plan builder: what a plan costs and holds while it is being edited. What is bought moves to the top of the table;
// an offer is marked if the fewest units of it already cost more than the budget.
"use strict";
{
  const SETTLED = 300;      // milliseconds after a field is left until its row moves: a click must not miss what it aims at
  const FAULTS = 2;         // faults that are named
  const builder = () => document.querySelector("[data-builder]");
  const rowsOf = (box) => [...box.querySelectorAll("[data-offer]")];
  const fieldOf = (row) => row.querySelector("[data-entry]");
  const cell = (row, name) => amountIn(row.querySelector(`.${name}`).textContent) || 0;
  const shown = (box, value) => box.dataset.unit.replace("AMOUNT", value.toLocaleString(document.documentElement.lang, { useGrouping: "always", minimumFractionDigits: 2, maximumFractionDigits: 2 }));
  const cents = (amount) => Math.round(100 * amount) / 100;

  function unitsOf(row) {
    const typed = fieldOf(row).value;
    const number = typed.trim() === "" ? 0 : numbers.read(typed);
    return Number.isInteger(number) && number >= 0 ? number : NaN;
  }

  const costOf = (row, units) => (units ? units * cell(row, "price") + cell(row, "upfront") : 0);

  function reckon(box) {
    let cost = 0;
    const faults = [], units = new Map();
    for (const row of rowsOf(box)) {
      const bought = unitsOf(row), least = cell(row, "minimum"), name = row.dataset.offer;
      row.classList.toggle("bought", bought > 0);
      row.classList.toggle("short", bought > 0 && bought < least);
      if (Number.isNaN(bought)) faults.push(box.dataset.whole.replace("NAME", name));
      else if (bought && bought < least) faults.push(box.dataset.least.replace("NAME", name).replace("LEAST", least));
      if (!bought) continue;
      cost += costOf(row, bought);
      for (const entry of row.querySelector(".held").textContent.split(", ")) {
        const [number, product] = entry.split(" × ");
        units.set(product, (units.get(product) ?? 0) + bought * number);
      }
    }
    const left = cents(box.dataset.budget - cost), part = (name) => box.querySelector(`[data-${name}]`);
    part("running").hidden = false;
    part("cost").textContent = shown(box, cost);
    part("left").textContent = shown(box, left);
    part("over").textContent = shown(box, -left);
    part("within").hidden = left < 0;
    part("beyond").hidden = left >= 0;
    part("fault").hidden = !faults.length;
    const rest = faults.length - FAULTS;
    part("fault").textContent = [...faults.slice(0, FAULTS), ...(rest > 0 ? [box.dataset.more.replace("COUNT", rest)] : [])].join("; ");
    showCategories(box, units, part("empty"));
  }

  // Units per category and of each product; which categories are still empty, once something is bought.
  function showCategories(box, units, line) {
    const empty = [], lists = box.querySelectorAll("[data-products]");
    [...box.querySelectorAll("[data-category]")].forEach((place, at) => {
      const products = place.dataset.category.split(", ");
      const total = products.reduce((sum, product) => sum + (units.get(product) ?? 0), 0);
      place.classList.toggle("empty", !total);
      place.querySelector("output").textContent = Number.isNaN(total) ? "?" : total || place.parentElement.dataset.nothing;
      lists[at].textContent = products.map((product) => `${units.get(product) || 0} × ${product}`).join(", ");
      if (!total) empty.push(place.querySelector("button").textContent);
    });
    line.hidden = !empty.length || !units.size;
    line.textContent = line.dataset.words.replace("NAMES", empty.join(", "));
  }

  function markUnaffordable(box) {
    for (const row of rowsOf(box)) {
      const least = costOf(row, cell(row, "minimum") || 1), never = cents(least - box.dataset.budget) > 0;
      row.classList.toggle("never", never);
      row.querySelector("small.never")?.remove();
      if (!never) continue;
      const words = document.createElement("small");
      words.className = "never";
      words.textContent = box.dataset.never.replace("COST", shown(box, least));
      row.cells[0].append(" ", words);
    }
    box.querySelector("[data-without]").parentElement.hidden = !box.querySelector("tr.never");
  }

  // ---- the basket -----------------------------------------------------------------------------------

  // Move bought offers to the top and the others back to the list; what the player looks at stays where it is.
  function settle(box) {
    const table = box.querySelector("table"), basket = box.querySelector("[data-basket]"), list = table.tBodies[1];
    const focused = document.activeElement, watched = focused.closest("tr") ?? focused, top = watched.getBoundingClientRect().top;
    const rows = rowsOf(box), inBasket = (row) => row.parentElement === basket;
    for (const row of rows) {
      const bought = fieldOf(row).value.trim() !== "" && unitsOf(row) !== 0;
      if (bought && !inBasket(row)) basket.append(row);
      if (!bought && inBasket(row)) list.append(row);
      row.hidden = row.hidden && !inBasket(row);
    }
    const count = basket.rows.length - 1;
    basket.hidden = !count;
    basket.querySelector("[data-count]").textContent = count ? `(${count})` : "";
    arrange(table);
    if (document.activeElement === focused || !box.contains(focused)) return window.scrollBy(0, box.contains(watched) ? watched.getBoundingClientRect().top - top : 0);
    focused.focus({ preventScroll: true });
    window.scrollBy(0, watched.getBoundingClientRect().top - top);
  }

  document.addEventListener("input", (event) => event.target.closest("[data-builder] [data-entry]") && reckon(builder()));
  document.addEventListener("focusout", (event) => {
    if (event.target.closest("[data-builder] [data-entry]")) setTimeout(() => builder() && settle(builder()), SETTLED);
  });
  document.addEventListener("parley:filled", (event) => {
    if (!builder()) return;
    reckon(builder());
    if (!document.activeElement.closest("[data-entry]")) settle(builder());
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-builder] [data-find]");
    if (!button) return;
    const menu = document.getElementById("plan-product");
    menu.value = menu.value === button.dataset.find ? "" : button.dataset.find;
    menu.dispatchEvent(new Event("change", { bubbles: true }));
  });

  function begin() {
    const box = builder();
    if (!box) return;
    for (const button of box.querySelectorAll("[data-find]")) button.disabled = false;
    arrange(box.querySelector("table"));   // before any row moves, so that each knows its place
    markUnaffordable(box);
    reckon(box);
    settle(box);
  }
  document.addEventListener("parley:screen", begin);
  begin();
}
