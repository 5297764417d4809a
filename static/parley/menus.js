// Menus that share their options, one line each: a taken option is greyed, and choosing it swaps the two lines.
"use strict";
{
  function grey(box) {
    const menus = [...box.querySelectorAll("select")];
    for (const menu of menus) {
      menu.dataset.before = menu.value;
      for (const option of menu.options) {
        if (!option.value) continue;
        const taker = menus.find((other) => other !== menu && other.value === option.value);
        option.classList.toggle("taken", taker !== undefined);
        option.textContent = taker ? `${option.value} (${box.dataset.taken} ${taker.dataset.line})` : option.value;
      }
    }
  }
  const all = () => document.querySelectorAll("[data-menus]").forEach(grey);

  document.addEventListener("change", (event) => {
    const box = event.target.closest("[data-menus]");
    if (!box) return;
    const others = [...box.querySelectorAll("select")].filter((menu) => menu !== event.target);
    const taker = event.target.value && others.find((menu) => menu.value === event.target.value);
    if (taker) taker.value = event.target.dataset.before ?? "";
    grey(box);
  });
  document.addEventListener("parley:screen", all);
  all();
}
