// Warns next to a price that is above the highest recommended price.
"use strict";
{
  function weigh(box) {
    for (const field of box.querySelectorAll("[data-price]")) {
      const price = numbers.read(field.value);
      field.parentElement.querySelector("[data-above]").hidden = !(price > Number(box.dataset.advised));
    }
  }
  const begin = () => document.querySelectorAll("[data-prices]").forEach(weigh);
  document.addEventListener("input", (event) => event.target.matches("[data-price]") && weigh(event.target.closest("[data-prices]")));
  document.addEventListener("parley:screen", begin);
  begin();
}
