// What the assignment being made would mean: every worker's total pay and the gap between them, from the pay per size seen,
// and the revenue, from the revenue per size that each worker has made so far.
"use strict";
{
  const box = () => document.querySelector("[data-so-far]");
  const shown = (value) => value.toLocaleString(document.documentElement.lang, { useGrouping: "always", maximumFractionDigits: 2 });
  const gap = (values) => shown(Math.max(...values) - Math.min(...values));

  function reckon(place) {
    const menus = [...document.querySelectorAll("[data-menus] select")];
    const rate = amountIn(place.dataset.pay) / amountIn(place.dataset.size);   // pay per size; not known before the first period
    const now = [], then = [], unknown = [];
    let revenue = 0;
    for (const row of place.querySelectorAll("[data-worker]")) {
      const [, pay, made] = [...row.cells].map((cell) => amountIn(cell.textContent));
      const menu = menus.find((one) => one.value === row.dataset.worker), size = menu ? amountIn(menu.dataset.size) : 0;
      row.querySelector("[data-task]").textContent = menu?.dataset.entry ?? "–";
      row.querySelector("[data-then]").textContent = rate ? shown(pay + rate * size) : menu?.dataset.size ?? "–";
      now.push(pay);
      then.push(pay + rate * size);
      if (pay) revenue += size * rate * made / pay;
      else if (menu) unknown.push(named(row.dataset.worker));
    }
    const left = menus.filter((menu) => !menu.value).map((menu) => menu.dataset.entry);
    const write = (name, words) => { const part = place.querySelector(`[data-${name}]`); if (part) part.textContent = words; };
    write("left", left.length ? `${left.length}: ${left.join(", ")}` : "0");
    write("gap", gap(now));
    write("gap-then", gap(then));
    const words = place.querySelector("[data-revenue]")?.dataset.least;
    write("revenue", unknown.length ? words?.replace("AMOUNT", shown(revenue)).replace("NAMES", unknown.join(", ")) : shown(revenue));
  }

  function begin() {
    for (const part of document.querySelectorAll("[data-draft]")) part.hidden = false;
    if (box()) reckon(box());
  }
  document.addEventListener("parley:filled", () => box() && reckon(box()));
  document.addEventListener("parley:screen", begin);
  begin();
}
