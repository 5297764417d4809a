// The plan builder: shows what a plan costs while it is being edited.
"use strict";
{
  const amount = (text) => Number(text.replace(/[^\d.]/g, "") || 0);
  const shown = (box, value) => box.dataset.unit.replace("AMOUNT", value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }));
  const units = (field) => (field.value.trim() === "" ? 0 : /^\d+$/.test(field.value.trim()) ? Number(field.value) : NaN);

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

  const builder = () => document.querySelector("[data-builder]");
  document.addEventListener("input", (event) => event.target.matches("[data-units]") && reckon(builder()));
  document.addEventListener("parley:filled", () => builder() && reckon(builder()));

  function begin() {
    if (builder()) reckon(builder());
  }
  document.addEventListener("parley:screen", begin);
  begin();
}
