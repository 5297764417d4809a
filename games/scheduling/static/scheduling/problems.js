// Marks reported blocking pairs: next to the menus until they are resolved, and in earlier schedules.
"use strict";
{
  const pairs = (text) => text.split(", ").map((pair) => pair.split("–")).filter((pair) => pair.length === 2);

  function mark(box) {
    const problems = pairs(box.dataset.problems);
    for (const row of box.querySelectorAll("[data-worker]")) {
      const has = row.querySelector("select").value;
      const tasks = problems.filter(([worker, task]) => worker === row.dataset.worker && task !== has).map(([, task]) => task);
      row.querySelector("[data-wanted]").textContent = tasks.length ? box.dataset.wants.replace("TASKS", tasks.join(", ")) : "";
    }
  }
  const all = () => document.querySelectorAll("[data-menus]").forEach(mark);

  // Run after the menus' own script, which may have swapped two tasks.
  document.addEventListener("change", (event) => event.target.closest("[data-menus]") && queueMicrotask(all));

  function begin() {
    for (const words of document.querySelectorAll("[data-swaps]")) words.hidden = false;
    all();
    for (const schedule of document.querySelectorAll("[data-schedule]")) {
      const told = pairs(schedule.querySelector("[data-told]").textContent).flat();
      for (const pair of schedule.querySelectorAll("[data-pair]")) pair.classList.toggle("problem", pair.textContent.split("–").some((name) => told.includes(name)));
    }
  }
  document.addEventListener("parley:screen", begin);
  begin();
}
