// What the player tried since the question was shown: values that a form with a what-if ("data-whatif") held, and what was
// copied and compared; sent with the answer, as numbers only.
"use strict";

const tries = (() => {
  const MOST = 200, REST = 600;
  let made = [], since = performance.now();
  let held = {};              // the value last recorded, by the name of a control
  const typing = new Map();   // when a control was last typed into, until typing rests

  const add = (at, name, value) => { if (made.length < MOST) made.push([Math.max(0, Math.round(at - since)), name, value]); };

  // The number typed, or that of a menu's choice (0: none); null if it is none.
  function valueOf(control) {
    if (control.localName === "select") return control.selectedIndex;
    const value = numbers.read(control.value);
    return Number.isNaN(value) ? null : value;
  }

  const isTried = (control) => control.name && control.type !== "hidden" && control.form?.matches("form[data-move]:has([data-whatif])");

  function keep(control, at) {
    typing.delete(control);
    const value = valueOf(control);
    if (value === held[control.name]) return;
    held[control.name] = value;
    add(at, control.name, value);
  }

  function wait(control) {
    const at = performance.now();
    typing.set(control, at);
    setTimeout(() => typing.get(control) === at && keep(control, at), REST);
  }
  document.addEventListener("input", ({ target }) => isTried(target) && wait(target));
  document.addEventListener("change", ({ target }) => {
    if (isTried(target)) return target === document.activeElement && target.localName === "input" ? wait(target) : keep(target, typing.get(target) ?? performance.now());
    const name = "one" in target.dataset ? "!compare" : "other" in target.dataset && "!with";
    if (name) add(performance.now(), name, periodOf(target.value));
  });

  const periodOf = (words) => words && Number.isFinite(Number(words)) ? Number(words) : null;

  // A copy sets many controls at once: its own entry says so, and only later changes count.
  let copying = false;
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-copy], [data-back-to]");
    copying = button !== null;
    if (!copying) return;
    const name = button.matches("[data-back-to]") ? "!undo" : button.dataset.copy ? "!copy" : "!clear";
    add(performance.now(), name, periodOf(button.dataset.copy ?? ""));
  }, true);

  const controls = () => [...document.querySelectorAll("form[data-move]:has([data-whatif]) [name]")].filter(isTried);
  const look = () => controls().forEach((control) => { if (!typing.has(control)) held[control.name] = valueOf(control); });
  document.addEventListener("parley:filled", () => {
    if (copying) look();
    else controls().filter((control) => valueOf(control) !== held[control.name]).forEach(wait);
    copying = false;
  });
  document.addEventListener("parley:screen", look);

  return {
    begin: () => { made = []; since = performance.now(); typing.clear(); held = {}; look(); },
    taken: () => { for (const [control, at] of typing) keep(control, at); return JSON.stringify(made); },
  };
})();
