// What a price means before it is set: the change from the last one, the profit per unit, and what a similar price sold.
// Everything is read from the table of earlier periods and the labels on the page ("data-whatif").
"use strict";
{
  const SIMILAR = 0.05;
  const written = (value) => (Math.round(value * 100) / 100 || 0).toLocaleString(document.documentElement.lang, { useGrouping: "always" });
  const signed = (value) => value > 0 ? `+${written(value)}` : `−${written(-value)}`;
  const put = (words, values) => words.replace(/[A-Z]{3,}/g, (name) => values[name] ?? name);

  // The product's earlier periods, oldest first; "data-columns" says what the columns of the table hold.
  function periods(box) {
    const at = Object.fromEntries(box.dataset.columns.split(" ").map((name, place) => [name, place])), product = box.dataset.product;
    const rows = [...document.querySelectorAll("#screen [data-sortable=history] tbody tr")].map((row) => row.cells);
    return rows.filter((cells) => !product || cells[at.product].textContent === product)
      .map((cells) => Object.fromEntries(Object.entries(at).map(([name, place]) => [name, amountIn(cells[place].textContent)])))
      .sort((a, b) => a.period - b.period);
  }

  // The profit per unit; prices in a currency of their own are converted at the rate of the last period with sales, which
  // follows from its profit and cost.
  function perUnit(box, price, past) {
    const cost = amountIn(box.dataset.cost);
    if (!("own" in box.dataset)) return { amount: price - cost };
    const known = past.findLast(({ sold, price }) => sold >= 1 && price > 0);
    return known && { amount: price * (known.profit / known.sold + cost) / known.price - cost, period: known.period };
  }

  function similar(price, past) {
    const distance = (one) => Math.abs(one.price - price);
    return past.findLast((one) => distance(one) <= SIMILAR * price) ?? past.reduce((best, one) => best && distance(best) < distance(one) ? best : one, undefined);
  }

  function reckon(box) {
    const price = numbers.read(document.getElementById(box.dataset.whatif).value), past = periods(box), last = past.at(-1);
    const line = (name, words) => { const place = box.querySelector(`[data-${name}]`); if (place) { place.hidden = !words; place.textContent = words || ""; } };
    const words = (name) => box.querySelector(`[data-${name}]`)?.dataset.words ?? "";
    const isPrice = Number.isFinite(price), change = isPrice && last ? price - last.price : 0;
    line("change", isPrice && last && (!change ? box.querySelector("[data-change]").dataset.same : put(words("change"), { CHANGE: signed(change), SHARE: last.price ? `(${change > 0 ? "+" : "−"}${Math.round(Math.abs(100 * change / last.price))}%)` : "", LAST: written(last.price) })));
    const unit = isPrice && perUnit(box, price, past), place = box.querySelector("[data-unit]");
    line("unit", unit && put(words("unit"), { AMOUNT: (unit.amount < 0 ? "−" : "") + put(place.dataset.amount, { AMOUNT: written(Math.abs(unit.amount)) }), PERIOD: unit.period }));
    place.classList.toggle("bad", unit?.amount < 0);
    const near = isPrice && similar(price, past);
    line("near", near && put(words("near"), { PRICE: written(near.price), PERIOD: near.period, SOLD: written(near.sold), PROFIT: written(near.profit), RIVAL: written(near.rival ?? 0) }));
    line("above", isPrice && price > Number(box.dataset.advised) && words("above"));
  }

  const all = () => document.querySelectorAll("[data-whatif][data-columns]").forEach(reckon);
  document.addEventListener("input", (event) => event.target.id && document.querySelectorAll(`[data-whatif="${CSS.escape(event.target.id)}"]`).forEach(reckon));
  document.addEventListener("parley:filled", all);
  document.addEventListener("parley:screen", all);
  all();
}
