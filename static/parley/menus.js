// Menus that share their options, one line each: a taken option is greyed, and choosing it swaps the two lines.
"use strict";
{
  let settled = new Map();   // every menu's value after the last change
  let inUse = null;          // the menu with the focus, and all values when it got it: arrows try one option after the other

  const menusIn = (box) => [...box.querySelectorAll("select")];
  const valuesIn = (box) => new Map(menusIn(box).map((menu) => [menu, menu.value]));

  // An option may carry a note of the game's ("data-note").
  function grey(box) {
    const menus = menusIn(box);
    for (const menu of menus) {
      for (const option of menu.options) {
        if (!option.value) continue;
        const taker = menus.find((other) => other !== menu && other.value === option.value);
        const notes = [taker && `${box.dataset.taken} ${taker.dataset.entry}`, option.dataset.note].filter(Boolean).join(", ");
        option.classList.toggle("taken", taker !== undefined);
        option.textContent = notes ? `${named(option.value)} (${notes})` : named(option.value);
      }
    }
  }

  document.addEventListener("focusin", (event) => {
    const box = event.target.closest("[data-menus]");
    inUse = box && { menu: event.target, values: valuesIn(box) };
  });
  document.addEventListener("change", (event) => {
    const box = event.target.closest("[data-menus]"), menu = event.target;
    if (!box) return;
    const before = inUse?.menu === menu ? inUse.values : settled;
    for (const [other, value] of before) if (other !== menu) other.value = value;
    const taker = menu.value && menusIn(box).find((other) => other !== menu && other.value === menu.value);
    if (taker) taker.value = before.get(menu) ?? "";
    menu.form.dispatchEvent(new CustomEvent("parley:filled", { bubbles: true }));
  });

  function all() {
    for (const words of document.querySelectorAll("[data-swaps]")) words.hidden = false;
    for (const box of document.querySelectorAll("[data-menus]")) {
      grey(box);
      settled = valuesIn(box);
    }
  }
  document.addEventListener("parley:filled", all);
  document.addEventListener("parley:screen", () => { inUse = null; all(); });
  all();
}
