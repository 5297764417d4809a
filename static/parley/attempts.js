// A form of many entries, and earlier submissions: copies one into the form, and compares two, or one with what is being
// prepared. What they hold is read from the page, where the view wrote it. Every control carries the name of its entry in
// "data-entry"; whatever changes them by script says so with "parley:filled".
"use strict";

// "2 × Offer 1, 1 × Offer 3", "W1–T2, W2–T1" or "W1: 51, W2: 8" → value by name.
function entriesIn(text) {
  const entries = new Map();
  for (const entry of text.split(", ")) {
    const units = entry.match(/^(\d+) × (.+)$/), pair = entry.match(/^(.+?)(?:–|: )(.+)$/);
    if (units) entries.set(units[2], units[1]);
    else if (pair) entries.set(pair[1], pair[2]);
  }
  return entries;
}

{
  const chosen = {};        // the two that are compared, kept while new screens arrive
  let before = null;        // the controls' values before the last copy, and the question they belong to

  const attempt = (period) => document.querySelector(`[data-attempt="${CSS.escape(period)}"]`);
  const controls = () => [...document.querySelectorAll("form[data-move] [data-entry]")];
  const form = () => document.querySelector("form[data-move]:has([data-entry])");

  const question = () => form()?.elements.answering.value;

  // What came of each entry: the columns "data-outcomes" of its row in the table of the history, if there is one.
  function outcomes(period) {
    const places = document.querySelector("[data-outcomes]")?.dataset.outcomes.split(" ") ?? [];
    const table = document.querySelector("#screen [data-sortable=history]");
    const rows = places.length ? [...table.tBodies[0].rows].filter((row) => row.cells[0].textContent === period) : [];
    return rows.reverse().flatMap(({ cells }) => places.map((at) => [`${cells[1].textContent}: ${table.tHead.rows[0].cells[at].textContent}`, cells[at].textContent]));
  }

  // What an attempt, or the form ("now"), consists of: [facts, entries], each a value by name.
  function contents(period) {
    if (period === "now") {
      const facts = [...form().querySelectorAll("[data-fact]")].map((part) => [part.dataset.fact, part.textContent.trim()]);
      return [new Map(facts), new Map(controls().filter(({ value }) => value.trim()).map(({ value, dataset: { entry, size } }) => size ? [named(value), size] : [entry, named(value.trim())]))];
    }
    const place = attempt(period);
    const facts = [...place.querySelectorAll("dl > div")].map((fact) => [fact.firstElementChild.textContent, fact.lastElementChild.textContent]);
    facts.push(...outcomes(period));
    return [new Map(facts), entriesIn(place.querySelector("[data-entries]").textContent.trim())];
  }

  // The values by entry that make the form like an attempt. Where every period has new entries, of different sizes, the
  // attempt tells the size of each choice: the largest entry gets the choice that had the largest, and so on.
  function values(entries) {
    const sized = controls().filter((control) => control.dataset.size);
    if (!sized.length) return entries;
    const bySize = sized.sort((a, b) => amountIn(a.dataset.size) - amountIn(b.dataset.size));
    const choices = [...entries].sort((a, b) => amountIn(a[1]) - amountIn(b[1]));
    return new Map(bySize.map((control, at) => [control.dataset.entry, choices[at]?.[0]]));
  }

  // ---- copying --------------------------------------------------------------------------------------

  function set(valueOf) {
    for (const control of controls()) {
      const value = valueOf(control), option = [...(control.options ?? [])].find((one) => named(one.value) === value);
      control.value = option?.value ?? value;
    }
    form().dispatchEvent(new CustomEvent("parley:filled", { bubbles: true }));
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy], [data-back-to]");
    if (!button || !form()) return;
    if (button.matches("[data-back-to]")) {
      const earlier = before.values;
      before = null;
      set((control) => earlier.get(control.name) ?? control.value);
    } else {
      before = { question: question(), values: new Map(controls().map((control) => [control.name, control.value])) };
      const wanted = button.dataset.copy ? values(contents(button.dataset.copy)[1]) : new Map();
      set((control) => wanted.get(control.dataset.entry) ?? "");
    }
    for (const undo of document.querySelectorAll("[data-back-to]")) undo.hidden = !before;
    document.dispatchEvent(new CustomEvent("parley:task"));   // on a phone, the form may be on another tab
    if (!form().contains(button)) form().scrollIntoView({ block: "start" });
  });

  // ---- the keyboard ---------------------------------------------------------------------------------

  // About a fiftieth of a number: 1, 2 or 5 times a power of ten.
  function share(number) {
    const power = 10 ** Math.floor(Math.log10(number / 50)), digit = number / 50 / power;
    return number > 0 ? power * (digit < 2 ? 1 : digit < 5 ? 2 : 5) : 1;
  }

  function go(control) {
    control?.focus();
    control?.select?.();
  }

  // Enter goes on to the next control, and after the last one to the button: it never submits by accident; after a period,
  // when the whole screen has the focus, it goes to the first. The arrows change a number by "data-step" ("share": by about a
  // fiftieth of it); below "data-least" there is only zero.
  document.addEventListener("keydown", (event) => {
    const visible = controls().filter((one) => one.offsetParent);
    if (event.key === "Enter" && event.target.id === "screen") {
      event.preventDefault();
      return go(visible[0]);
    }
    const control = event.target.closest("form[data-move] [data-entry]");
    if (!control || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === "Enter") {
      if (visible.length < 2) return;
      event.preventDefault();
      const next = visible[visible.indexOf(control) + (event.shiftKey ? -1 : 1)];
      go(next ?? control.form.querySelector("button.primary"));
    } else if (up && control.dataset.step) {
      event.preventDefault();
      const least = Number(control.dataset.least ?? 0), now = numbers.read(control.value || "0");
      if (Number.isNaN(now)) return;
      const step = control.dataset.step === "share" ? share(now) : Number(control.dataset.step);
      const then = now + up * step;
      control.value = then >= least ? numbers.write(then) : up > 0 ? String(least) : "";
      control.dispatchEvent(new Event("change", { bubbles: true }));
      control.form.dispatchEvent(new CustomEvent("parley:filled", { bubbles: true }));
    }
  });

  // ---- comparing ------------------------------------------------------------------------------------

  function difference(one, other) {
    const [x, y] = [amountIn(one), amountIn(other)];
    if (Number.isNaN(x) || Number.isNaN(y)) return "";
    const by = Math.round(100 * (y - x)) / 100;
    return by > 0 ? `+${by.toLocaleString(document.documentElement.lang, { useGrouping: "always" })}` : by < 0 ? `−${(-by).toLocaleString(document.documentElement.lang, { useGrouping: "always" })}` : "=";
  }

  function line(cells, head) {
    const row = document.createElement("tr");
    cells.forEach((words, at) => {
      const cell = document.createElement(head || !at ? "th" : "td");
      if (head || !at) cell.scope = head ? "col" : "row";
      cell.textContent = words;
      row.append(cell);
    });
    return row;
  }

  function compare(box) {
    const place = box.querySelector("[data-comparison]");
    const [one, other] = ["one", "other"].map((name) => box.querySelector(`[data-${name}]`));
    place.replaceChildren();
    if (!one.value || !other.value || one.value === other.value) return;
    const [[facts, entries], [otherFacts, otherEntries]] = [contents(one.value), contents(other.value)];
    const rows = [];
    let same = 0;
    for (const [mine, theirs] of [[facts, otherFacts], [entries, otherEntries]]) {
      const names = [...new Set([...mine.keys(), ...theirs.keys()])];
      for (const name of mine === facts ? names : names.sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))) {
        const none = mine === facts ? "" : /^\d+$/.test(mine.get(name) || theirs.get(name)) ? "0" : "–";
        const a = mine.get(name) || none, b = theirs.get(name) || none;
        if (mine === entries && a === b) same += a !== none;
        else rows.push([name, a, b, difference(a, b)]);
      }
    }
    const numeric = rows.some((row) => row[3]), cut = (row) => numeric ? row : row.slice(0, 3);
    const table = document.createElement("table"), heads = [one, other].map((menu) => menu.selectedOptions[0].textContent);
    table.createTHead().append(line(cut(["", ...heads, place.dataset.difference]), true));
    table.createTBody().append(...rows.map((row) => line(cut(row))));
    place.append(table);
    if (!same) return;
    const rest = document.createElement("p");
    rest.className = "help";
    rest.textContent = place.dataset.same.replace("COUNT", same);
    place.append(rest);
  }

  const compareAll = () => document.querySelectorAll("[data-comparing]").forEach(compare);

  document.addEventListener("change", (event) => {
    const menu = event.target.closest("[data-one], [data-other]");
    if (menu) chosen[menu.id] = menu.value;
    if (menu || event.target.closest("[data-entry]")) compareAll();
  });
  document.addEventListener("parley:filled", () => queueMicrotask(compareAll));

  // The buttons and the menus' options, which work only by this script.
  function addControls(box) {
    const { copyShort, copyWords, periodWords, now } = box.dataset, places = [...box.querySelectorAll("[data-attempt]")];
    for (const place of copyWords ? places : []) {
      const button = document.createElement("button");
      button.type = "button";
      button.dataset.copy = place.dataset.attempt;
      button.textContent = copyShort;
      button.ariaLabel = copyWords.replace("PERIOD", place.dataset.attempt);
      if (!place.querySelector("button")) place.append(button);
    }
    for (const menu of box.querySelectorAll("[data-one], [data-other]")) {
      if (menu.options.length > 1) continue;
      if (now) menu.add(new Option(now, "now"));
      const newest = places.sort((a, b) => b.dataset.attempt - a.dataset.attempt);
      for (const { dataset, classList } of newest) menu.add(new Option(`${periodWords.replace("PERIOD", dataset.attempt)}${classList.contains("best") ? " ★" : ""}`, dataset.attempt));
    }
  }

  function begin() {
    document.querySelectorAll("[data-attempts]").forEach(addControls);
    for (const part of document.querySelectorAll("[data-copying], [data-comparing]")) part.hidden = false;
    if (before?.question !== question()) before = null;
    for (const undo of document.querySelectorAll("[data-back-to]")) undo.hidden = !before;
    for (const menu of document.querySelectorAll("[data-one], [data-other]")) menu.value = chosen[menu.id] ?? "";
    compareAll();
    // What a new period begins with is replaced by typing.
    const focused = document.activeElement;
    if (focused?.matches("input[data-entry]") && focused.value === focused.defaultValue) focused.select();
  }
  document.addEventListener("parley:screen", begin);
  begin();
}
