// The plan builder: shows what a plan costs while it is being edited, and copies earlier plans.
"use strict";
{
  const amount = (text) => Number(text.replace(/[^\d.]/g, "") || 0);
  const shown = (box, value) => box.dataset.unit.replace("AMOUNT", value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }));
  const units = (field) => {
    const number = field.value.trim() === "" ? 0 : numbers.read(field.value);
    return Number.isInteger(number) && number >= 0 ? number : NaN;
  };

  function reckon(box) {
    let cost = 0;
    const faults = [];
    for (const row of box.querySelectorAll("[data-offer]")) {
      const field = row.querySelector("[data-units]"), bought = units(field), least = amount(row.dataset.minimum);
      row.classList.toggle("bought", bought > 0);
      if (Number.isNaN(bought)) faults.push(box.dataset.whole.replace("NAME", row.dataset.name));
      else if (bought && bought < least) faults.push(box.dataset.least.replace("NAME", row.dataset.name).replace("LEAST", least));
      if (bought) cost += bought * amount(row.dataset.price) + amount(row.dataset.upfront);
    }
    const left = Math.round(100 * (Number(box.dataset.budget) - cost)) / 100, beyond = left < 0;
    const part = (name) => box.querySelector(`[data-${name}]`);
    part("running").hidden = false;
    part("cost").textContent = shown(box, cost);
    part("left").textContent = shown(box, left);
    part("over").textContent = shown(box, -left);
    part("within").hidden = beyond;
    part("beyond").hidden = !beyond;
    part("fault").hidden = !faults.length;
    part("fault").textContent = faults.join("; ");
  }

  function fill(box, plan) {
    const wanted = new Map(plan.split(", ").map((entry) => entry.split(" × ")).filter((entry) => entry.length === 2).map(([number, name]) => [name, number]));
    for (const row of box.querySelectorAll("[data-offer]")) row.querySelector("[data-units]").value = wanted.get(row.dataset.offer) ?? "";
    reckon(box);
  }

  const builder = () => document.querySelector("[data-builder]");
  document.addEventListener("input", (event) => event.target.matches("[data-units]") && reckon(builder()));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-clear]");
    if (!button || !builder()) return;
    fill(builder(), button.dataset.copy ?? "");
    if (button.dataset.copy) builder().scrollIntoView({ block: "start" });
  });

  function begin() {
    for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
    if (builder()) reckon(builder());
  }
  document.addEventListener("parley:screen", begin);
  begin();
}
