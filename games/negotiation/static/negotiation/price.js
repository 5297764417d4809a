// Naming a price: a number field, a slider and a mark on the ladder move together and show what the price would earn.
"use strict";
{
  const parts = (box) => ({
    field: box.querySelector("[name=price]"),
    slider: box.querySelector("input[type=range]"),
    outcome: box.querySelector(".outcome"),
    own: Number(box.dataset.own),
    // The ladder runs from 0 to its top; the player's own value lies this many percent below the top.
    top: Number((Number(box.dataset.own) / (1 - Number(box.dataset.place) / 100)).toPrecision(5)),
  });
  const { read, write } = numbers;
  const shown = (box, amount) => box.dataset.unit.replace("AMOUNT", amount.toLocaleString(document.documentElement.lang, { useGrouping: "always", maximumFractionDigits: 2, minimumFractionDigits: box.dataset.unit.startsWith("$") && amount % 1 ? 2 : 0 }));
  const promise = (box, payoff) => box.dispatchEvent(new CustomEvent("parley:payoff", { bubbles: true, detail: payoff }));
  // The slider moves in round amounts: about two hundred steps from end to end.
  const stepOf = (top) => 10 ** Math.floor(Math.log10(top / 100));

  function tell(box, price) {
    const { outcome, own } = parts(box);
    const known = Number.isFinite(price) && price >= 0;
    outcome.hidden = !known;
    const gain = Number(box.dataset.sign) * (price - own);
    promise(box, known ? gain : NaN);
    if (!known) return;
    const size = shown(box, Math.abs(gain));
    const said = outcome.querySelector("output");
    const kind = size === shown(box, 0) ? "even" : gain > 0 ? "earn" : "lose";
    said.textContent = said.dataset[kind].replace("AMOUNT", size);
    outcome.classList.toggle("loss", kind === "lose");
  }

  function mark(box, price) {
    const live = document.querySelector("[data-ladder] [data-live]");
    if (!live) return;
    const known = Number.isFinite(price) && price >= 0;
    live.toggleAttribute("hidden", !known);
    if (!known) return;
    live.setAttribute("y", `${100 * (1 - Math.min(price / parts(box).top, 1))}%`);
    live.querySelector("text").textContent = shown(box, price);
  }

  function show(box, price, from) {
    const { field, slider, top } = parts(box);
    if (Number.isFinite(price) && price >= 0) {
      if (from !== field) field.value = write(price);
      if (from !== slider) slider.value = Math.min(price, top);
      slider.classList.remove("untouched");
      slider.setAttribute("aria-valuetext", shown(box, price));
    }
    tell(box, price);
    mark(box, price);
  }

  document.addEventListener("input", (event) => {
    const box = event.target.closest("[data-price]");
    if (!box) return;
    const { field, slider, top } = parts(box);
    if (event.target === field) show(box, read(field.value), field);
    if (event.target === slider) {
      const step = stepOf(top);
      show(box, Math.min(Math.round(Number(slider.value) / step) * step, top), slider);
    }
  });

  function begin() {
    for (const box of document.querySelectorAll("[data-price]")) {
      const { field, slider, own, top } = parts(box);
      slider.max = top;
      slider.hidden = false;
      if (field.value === "") slider.value = own;
      else show(box, read(field.value), field);
    }
  }
  document.addEventListener("parley:screen", begin);
  begin();
}
