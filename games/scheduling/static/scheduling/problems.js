// What the reports of all periods say about the schedule being made. A reported pair blocks it for certain if the worker
// and the task have partners with whom the pair was reported.
"use strict";
{
  const NAMED = 8;          // pairs that are named; the others are counted
  const pairsIn = (text) => text.split(", ").map((pair) => pair.split("–")).filter((pair) => pair.length === 2);
  const weighing = () => document.querySelector("[data-weighing]");

  // Every reported pair: the tasks that the worker had instead, and the workers who had the task.
  function reports(told) {
    const found = new Map();
    for (const place of document.querySelectorAll("[data-attempt]")) {
      const fact = [...place.querySelectorAll("dl > div")].find((part) => part.firstElementChild.textContent === told);
      const had = entriesIn(place.querySelector("[data-entries]").textContent.trim());
      const held = new Map([...had].map(([worker, task]) => [task, worker]));
      for (const [worker, task] of pairsIn(fact.lastElementChild.textContent)) {
        const name = `${worker}–${task}`, report = found.get(name) ?? { name, worker, task, had: new Set(), held: new Set() };
        found.set(name, report);
        report.had.add(had.get(worker));
        report.held.add(held.get(task));
      }
    }
    return [...found.values()];
  }

  function weigh(box) {
    const menus = [...document.querySelectorAll("[data-menus] select")], told = reports(box.dataset.told);
    const has = new Map(menus.map((menu) => [menu.dataset.entry, named(menu.value)]));
    const holder = new Map(menus.map((menu) => [named(menu.value), menu.dataset.entry]));
    const together = told.filter(({ worker, task }) => has.get(worker) === task);
    const again = told.filter(({ worker, task, had, held }) => had.has(has.get(worker)) && held.has(holder.get(task)));
    const open = told.filter((report) => !together.includes(report) && !again.includes(report));
    const tasks = [...menus[0].options].map((option) => named(option.value)).filter((task) => task && !holder.has(task));
    for (const [name, names] of Object.entries({ left: menus.filter((menu) => !menu.value).map((menu) => menu.dataset.entry), tasks })) {
      box.querySelector(`[data-${name}]`).textContent = names.length ? `${names.length}: ${list(names, box)}` : "0";
    }
    for (const [name, pairs] of Object.entries({ again, open, together })) {
      const count = box.querySelector(`[data-${name}]`);
      if (!count) continue;
      count.textContent = pairs.length;
      count.nextElementSibling.textContent = list(pairs.map((pair) => pair.name), box);
      count.closest("div").classList.toggle("some", pairs.length > 0);
    }
    for (const menu of menus) {
      const wanted = told.filter(({ worker, had }) => worker === menu.dataset.entry && had.has(named(menu.value))).map(({ task }) => task);
      const words = wanted.length ? box.dataset.wants.replace("TASKS", list(wanted, box)) : "";
      menu.closest(".menu").querySelector("small").textContent = words;
    }
  }

  function list(names, box) {
    const rest = names.length - NAMED;
    return [names.slice(0, NAMED).join(", "), ...(rest > 0 ? [box.dataset.more.replace("COUNT", rest)] : [])].join(" ");
  }

  // The options and the earlier schedules show what was reported.
  function mark(box) {
    for (const { worker, task } of reports(box.dataset.told)) {
      const menu = document.querySelector(`[data-menus] [data-entry="${CSS.escape(worker)}"]`);
      const option = [...(menu?.options ?? [])].find(({ value }) => named(value) === task);
      if (option) option.dataset.note = box.dataset.reported;
    }
  }

  function markAttempts() {
    for (const place of document.querySelectorAll("[data-attempt]")) {
      const told = pairsIn([...place.querySelectorAll("dd")].map((part) => part.textContent).join(", ")).flat();
      const entries = place.querySelector("[data-entries]");
      const parts = entries.textContent.trim().split(", ").flatMap((pair, at) => {
        const part = document.createElement("span");
        part.textContent = pair;
        if (pair.split("–").some((name) => told.includes(name))) part.className = "problem";
        return at ? [", ", part] : [part];
      });
      entries.replaceChildren(...parts);
    }
  }

  function begin() {
    markAttempts();
    const box = weighing();
    if (!box) return;
    box.hidden = false;
    mark(box);   // before menus.js writes the options
    weigh(box);
  }
  document.addEventListener("parley:filled", () => weighing() && weigh(weighing()));
  document.addEventListener("parley:screen", begin);
  begin();
}
