// A page of questions: shows and hides those that depend on other answers of the page, and keeps sliders and rankings
// usable. The server judges everything again. Conditions are trees of plain data (games/conditions.py).
"use strict";
{
  const boxes = [...document.querySelectorAll("[data-question]")];
  for (const hint of document.querySelectorAll("[data-unscripted]")) hint.remove();

  // ---- conditions: null is a missing value, with which every comparison is false
  const number = (value) => (typeof value === "boolean" ? Number(value) : value);
  const comparable = (left, right) => typeof left === typeof right && ["number", "string"].includes(typeof left);
  const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);
  const inside = (item, of) => {
    if (Array.isArray(of)) return of.some((each) => same(number(each), item));
    if (typeof of === "string") return typeof item === "string" ? of.includes(item) : null;
    return of && typeof of === "object" ? Object.hasOwn(of, item) : null;
  };
  const COMPARE = {
    "==": same,
    "!=": (left, right) => !same(left, right),
    "<": (left, right) => comparable(left, right) && left < right,
    "<=": (left, right) => comparable(left, right) && left <= right,
    ">": (left, right) => comparable(left, right) && left > right,
    ">=": (left, right) => comparable(left, right) && left >= right,
    in: (left, right) => inside(left, right) === true,
    "not in": (left, right) => inside(left, right) === false,
  };
  const COMPUTE = {
    "+": (left, right) => left + right,
    "-": (left, right) => left - right,
    "*": (left, right) => left * right,
    "/": (left, right) => left / right,
    "//": (left, right) => Math.floor(left / right),
    "%": (left, right) => left - right * Math.floor(left / right),
    "**": (left, right) => left ** right,
  };
  const truth = (value) =>
    Boolean(Array.isArray(value) ? value.length : value && typeof value === "object" ? Object.keys(value).length : value);

  function evaluate([kind, ...operands], values) {
    if (kind === "value") return operands[0];
    if (kind === "name") return operands[0].reduce((value, part) => value?.[part] ?? null, values);
    if (kind === "and") return operands.every((each) => truth(evaluate(each, values)));
    if (kind === "or") return operands.some((each) => truth(evaluate(each, values)));
    if (kind === "not") return !truth(evaluate(operands[0], values));
    if (kind === "compare") return compared(evaluate(operands[0], values), operands[1], values);
    const [left, right] = operands.map((each) => number(evaluate(each, values)));
    if (operands.length === 1) return typeof left === "number" ? (kind === "-" ? -left : left) : null;
    if (!comparable(left, right) || (typeof left === "string" && kind !== "+")) return null;
    const result = COMPUTE[kind](left, right);
    return typeof result === "string" || Number.isFinite(result) ? result : null;
  }

  function compared(first, rest, values) {
    let left = number(first);
    for (const [sign, operand] of rest) {
      const right = number(evaluate(operand, values));
      if (left === null || right === null || !COMPARE[sign](left, right)) return false;
      left = right;
    }
    return true;
  }

  // ---- answers as the server reads them
  function answer(box) {
    const fields = [...box.querySelectorAll("input, select, textarea")];
    const kind = box.dataset.kind;
    const chosen = fields.filter((each) => each.checked).map((each) => each.value);
    if (kind === "multiple") return chosen.length ? chosen : null;
    if (kind === "ranking") {
      const ranked = fields.filter((each) => each.value).sort((one, other) => (one.value < other.value ? -1 : 1));
      return ranked.length === fields.length ? ranked.map((each) => each.dataset.option) : null;
    }
    if (kind === "matrix") {
      const rows = fields.filter((each) => each.checked).map((each) => [each.name.split(".").pop(), each.value]);
      return rows.length ? Object.fromEntries(rows) : null;
    }
    const text = (["single", "scale"].includes(kind) ? chosen[0] : fields[0].name ? fields[0].value.trim() : "") ?? "";
    if (!text) return null;
    if (!["scale", "number", "slider"].includes(kind)) return text;
    return Number.isFinite(Number(text)) ? Number(text) : null;
  }

  function refresh() {
    const values = Object.create(null);
    for (const box of boxes) {
      if (box.dataset.showIf) box.hidden = !truth(evaluate(JSON.parse(box.dataset.showIf), values));
      values[box.dataset.question] = box.hidden ? null : answer(box);
    }
  }

  // ---- a slider has no answer before it is touched
  for (const slider of document.querySelectorAll("input[type=range][data-untouched]")) {
    const { name } = slider;
    slider.removeAttribute("name");
    slider.classList.add("untouched");
    const touch = () => {
      slider.name = name;
      slider.classList.remove("untouched");
      slider.parentElement.querySelector("output").textContent = slider.value;
      refresh();
    };
    for (const event of ["input", "change", "pointerup", "keyup"])
      slider.addEventListener(event, (happened) => happened.key === "Tab" || touch());
  }
  for (const slider of document.querySelectorAll("input[type=range]:not([data-untouched])"))
    slider.addEventListener("input", () => (slider.parentElement.querySelector("output").textContent = slider.value));

  // ---- in a ranking, an option that takes another's place gives it its own
  for (const box of boxes.filter((each) => each.dataset.kind === "ranking")) {
    const places = [...box.querySelectorAll("select")];
    const before = new Map(places.map((place) => [place, place.value]));
    box.addEventListener("change", ({ target }) => {
      for (const other of places)
        if (other !== target && other.value && other.value === target.value) other.value = before.get(target);
      for (const place of places) before.set(place, place.value);
    });
  }

  document.addEventListener("input", refresh);
  document.addEventListener("change", refresh);
  refresh();
}
