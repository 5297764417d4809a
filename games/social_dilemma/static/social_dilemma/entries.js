// A custom game that is the same for all players: what is typed for one of them fills the empty fields of the others.
"use strict";
{
  // "0,1/2" → the seat's own action and, in order, the others'; equal keys have equal points.
  const outcome = (control) => {
    const [profile, seat] = control.split("/");
    const actions = profile.split(",");
    const [own] = actions.splice(Number(seat) - 1, 1);
    return `${own}|${actions.sort().join()}`;
  };
  const fields = (box) => [...box.querySelectorAll("td input")].map((field) => [outcome(field.name.slice(box.dataset.entry.length + 1)), field]);

  document.addEventListener("click", (event) => {
    if (!event.target.matches("[data-symmetric]")) return;
    const box = event.target.closest("[data-entry]"), known = new Map();
    for (const [key, field] of fields(box)) if (field.value.trim() && !known.has(key)) known.set(key, field.value);
    for (const [key, field] of fields(box)) if (!field.value.trim() && known.has(key)) field.value = known.get(key);
    box.querySelector("td input").dispatchEvent(new Event("input", { bubbles: true }));
  });

  const offer = () => document.querySelectorAll("[data-symmetric]").forEach((button) => {
    const sizes = [...button.closest("[data-entry]").querySelectorAll("select[name*=':actions']")].map((one) => one.value);
    button.hidden = new Set(sizes).size > 1;
  });
  document.addEventListener("parley:entry", offer);
  offer();
}
