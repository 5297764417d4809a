// Controls for the parts of a plan, drawn from their descriptions (plans/schema.py). The plan in memory is the only
// truth: a control reads its value when it is drawn, and writes it when it is changed.
import * as tree from "./tree.js";

export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && !["list", "form", "style"].includes(name)) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const icon = (name) => h("span", { className: "material-symbols-outlined", "aria-hidden": "true" }, name);
export const fill = (words, values) => words.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

export function button(words, { symbol, className = "", label, ...attributes }) {
  const shown = symbol ? [icon(symbol), words && h("span", {}, words)] : [words];
  return h("button", { type: "button", className: `plan-button ${className}`, "aria-label": label, title: words ? null : label, ...attributes }, ...shown);
}

// ---- one field -----------------------------------------------------------------------------------------

// The field of a control: its label, its value or its values by level, help and faults.
export function field(desk, control, path, options = {}) {
  const node = tree.get(desk.plan, path);
  if (control.kind === "fixed") return null;
  if (tree.isVaried(node)) return variedField(desk, control, path, node, options);
  if (isWorded(desk, node)) return wordedField(desk, control, path, node, options);
  if (control.kind === "lines" && node?.some?.((item) => isWorded(desk, item))) return wordedLines(desk, control, path, options);
  const kind = composite[control.kind] ? "composite" : "simple";
  return kind === "composite" ? compositeField(desk, control, path, options) : simpleField(desk, control, path, options);
}

function marks(desk, path, options) {
  return { "data-at": tree.resolvedPath(desk.plan, options.at ?? path).join("."), "data-levels": JSON.stringify(options.levels ?? {}) };
}

function simpleField(desk, control, path, options) {
  const id = desk.id(path);
  const node = tree.get(desk.plan, path);
  const value = node === undefined ? control.default : node;
  const help = helpOf(control, value);
  const described = h("p", { className: "plan-help", id: `${id}-help` }, help);
  const input = (simple[control.kind] ?? simple.string)(desk, control, path, value, {
    id,
    disabled: desk.readOnly,
    "aria-describedby": [help && `${id}-help`, `${id}-fault`].filter(Boolean).join(" "),
    explain: (chosen) => (described.textContent = helpOf(control, chosen)),
  });
  if (path.at(-1) === "name" && path.at(-3) === "items") followName(desk, path, input);
  const label = labelOf(control, options, { htmlFor: id });
  const isSwitch = control.kind === "boolean";
  const unit = control.kind === "amount" ? desk.currency() : desk.words.units[control.unit] ?? control.unit;
  return h(
    "div",
    { className: `plan-field plan-${control.kind || "string"}${wide.has(control.kind) ? " plan-wide" : ""}`, ...marks(desk, path, options) },
    h("div", { className: "plan-head" }, isSwitch ? h("span", { className: "plan-switch" }, input, label) : label, wordButton(desk, control, path, options), varyButton(desk, control, path, options)),
    isSwitch ? null : unit ? h("span", { className: "plan-with-unit" }, input, h("span", {}, unit)) : input,
    help || control.kind === "choice" ? described : null,
    h("p", { className: "plan-fault", id: `${id}-fault`, hidden: true }),
  );
}

// Once a question has its new name, what mentions the old one follows.
function followName(desk, path, input) {
  let old = input.value;
  input.addEventListener("focus", () => (old = input.value));
  input.addEventListener("change", () => {
    const name = input.value.trim();
    const taken = desk.questions().filter((each) => each === name).length > 1;
    if (!old || !tree.isName(name) || taken || old === name) return;
    tree.renameQuestion(desk.plan, old, name);
    desk.changed();
    desk.refreshSoon();
  });
}

const wide = new Set(["text", "long", "condition"]);

function labelOf(control, options, attributes) {
  const before = options.prefix ? [h("span", { className: "sr-only" }, `${options.prefix}: `)] : [];
  return h("label", attributes, ...before, options.label ?? control.label, control.required ? h("span", { "aria-hidden": "true" }, " *") : null);
}

function compositeField(desk, control, path, options) {
  const id = desk.id(path);
  const content = composite[control.kind](desk, control, path, options);
  return h(
    "fieldset",
    { className: `plan-field plan-wide plan-${control.kind}`, ...marks(desk, path, options), id: `${id}-group`, tabIndex: -1 },
    h("legend", { className: "sr-only" }, [options.prefix, options.label ?? control.label].filter(Boolean).join(": ")),
    options.bare || control.kind === "group" ? null : h("div", { className: "plan-head" }, h("span", { className: "plan-title", "aria-hidden": "true" }, options.label ?? control.label), varyButton(desk, control, path, options)),
    control.help && !options.bare && !["group", "own"].includes(control.kind) ? h("p", { className: "plan-help" }, control.help) : null,
    content,
    h("p", { className: "plan-fault", id: `${id}-fault`, hidden: true }),
  );
}

// The help of a choice is the explanation of what is chosen: "share: twice the average. fixed: the same for all."
function helpOf(control, value) {
  if (!control.choices) return control.help ?? "";
  const names = control.choices.map(([name]) => String(name).replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const parts = (control.help ?? "").split(new RegExp(`(?:^|\\s)(${names.join("|")}): `));
  if (parts.length < 3) return control.help ?? "";
  const place = parts.indexOf(String(value), 1);
  return [parts[0], place > 0 ? sentence(parts[place + 1]) : ""].filter(Boolean).join(" ");
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/[;,]$/, ".");

function varyButton(desk, control, path, options) {
  if (desk.readOnly || control.kind === "condition" || options.literal || desk.fixed.has(path.at(-1)) || !desk.mayVary(path)) return null;
  const label = [options.prefix, options.label ?? control.label].filter(Boolean).join(": ");
  return h("button", { type: "button", className: "plan-button plan-vary", id: `${desk.id(path)}-vary`, onclick: () => desk.vary(control, path) }, desk.words.vary, h("span", { className: "sr-only" }, ` ${label}`));
}

// ---- a field that depends on a factor ------------------------------------------------------------------

function variedField(desk, control, path, node, options) {
  const name = String(node.by);
  const [factor, ...part] = name.split(".");
  const label = options.label ?? control.label;
  const levels = Object.keys(node.values ?? {});
  const help = control.choices ? "" : control.help;
  const content = node.values
    ? h(
        "div",
        { className: `plan-levels${levels.length > 3 || wide.has(control.kind) || composite[control.kind] ? " plan-stacked" : ""}` },
        levels.map((level) =>
          h(
            "div",
            { className: "plan-level" },
            field(desk, { ...control, default: control.kind === "group" ? control.default : undefined, help: control.choices ? control.help : "" }, [...path, "values", level], {
              ...options,
              label: level,
              prefix: [options.prefix, label].filter(Boolean).join(": "),
              levels: { ...options.levels, ...(part.length ? {} : { [factor]: level }) },
            }),
          ),
        ),
      )
    : h(
        "p",
        { className: "plan-help" },
        fill(part.length ? desk.words.level_part : desk.words.level_itself, { factor, part: part.join("."), levels: desk.levels(factor).slice(0, 8).join(", ") }),
      );
  const badge = h("button", { type: "button", className: "plan-badge", title: desk.words.open_factor, onclick: () => desk.open("factor", factor) }, icon("alt_route"), ` ${name}`);
  return several(desk, path, options, { label, help, content, badge, legend: fill(desk.words.varied_label, { label, factor: name }), same: () => desk.stopVarying(path) });
}

// The frame of a field that has several values, and the button after which it has one.
function several(desk, path, options, { label, legend, badge, content, help, same }) {
  return h(
    "fieldset",
    { className: "plan-field plan-wide plan-varied", ...marks(desk, path, options), id: `${desk.id(path)}-group`, tabIndex: -1 },
    h("legend", { className: "sr-only" }, legend),
    h(
      "div",
      { className: "plan-head" },
      h("span", { className: "plan-title", "aria-hidden": "true" }, label),
      badge,
      desk.readOnly
        ? null
        : h("button", { type: "button", className: "plan-button plan-vary", onclick: same }, desk.words.same_for_all, h("span", { className: "sr-only" }, ` ${label}`)),
    ),
    content,
    help ? h("p", { className: "plan-help" }, help) : null,
    h("p", { className: "plan-fault", id: `${desk.id(path)}-fault`, hidden: true }),
  );
}

// ---- a text in several languages ------------------------------------------------------------------------

const languagesOf = (desk) => [desk.plan.language ?? "en"].flat();
const isWorded = (desk, node) => tree.isObject(node) && Object.keys(node).length > 0 && Object.keys(node).every((code) => code in desk.words.languages);

function wordedField(desk, control, path, node, options) {
  const label = options.label ?? control.label;
  const codes = [...new Set([...languagesOf(desk), ...Object.keys(node)])];
  const one = { ...control, default: undefined, optional: false, help: "" };
  const content = h("div", { className: "plan-levels plan-stacked" }, codes.map((code) =>
    h("div", { className: "plan-level" }, field(desk, one, [...path, code], { ...options, literal: true, label: desk.words.languages[code], prefix: [options.prefix, label].filter(Boolean).join(": ") }))));
  return several(desk, path, options, { label, help: control.help, content, badge: null, legend: label, same: () => desk.write(path, Object.values(tree.get(desk.plan, path))[0], undefined, true) });
}

// Lines in several languages: the n-th line of each is the same item.
function wordedLines(desk, control, path, options) {
  const label = options.label ?? control.label;
  const codes = languagesOf(desk);
  const inOne = (item, code) => (isWorded(desk, item) ? item[code] ?? "" : item ?? "");
  const items = () => tree.get(desk.plan, path) ?? [];
  const write = (code) => (event) => {
    const lines = event.target.value.split("\n").map((line) => line.trim());
    const made = Array.from({ length: Math.max(lines.length, items().length) }, (_, n) =>
      Object.fromEntries(codes.map((each) => [each, each === code ? lines[n] ?? "" : inOne(items()[n], each)])));
    desk.write(path, made.filter((item) => Object.values(item).some(Boolean)), control);
  };
  const content = h("div", { className: "plan-levels plan-stacked" }, codes.map((code) => {
    const id = `${desk.id(path)}-${code}`;
    const text = items().map((item) => inOne(item, code)).join("\n").trimEnd();
    const lines = h("textarea", { id, rows: Math.min(8, items().length + 1), value: text, disabled: desk.readOnly, placeholder: desk.words.one_per_line, oninput: write(code) });
    return h("div", { className: "plan-level plan-field" }, labelOf(control, { prefix: label, label: desk.words.languages[code] }, { htmlFor: id }), lines);
  }));
  return several(desk, path, options, { label, help: control.help, content, badge: null, legend: label, same: () => desk.write(path, items().map((item) => inOne(item, codes[0])), control, true) });
}

function wordButton(desk, control, path, options) {
  const isText = (["string", "long", "text"].includes(control.kind) || control.item?.kind === "string") && path[0] === "journey" && !control.pattern && !(path.at(-1) in desk.words.languages);
  const written = () => tree.get(desk.plan, path) ?? control.default ?? "";
  if (desk.readOnly || !isText || written() === "default" || desk.fixed.has(path.at(-1)) || languagesOf(desk).length < 2) return null;
  const inFirst = (words) => ({ [languagesOf(desk)[0]]: words });
  const spread = () => desk.write(path, Array.isArray(written()) ? written().map(inFirst) : inFirst(written()), undefined, true);
  return h("button", { type: "button", className: "plan-button plan-vary", onclick: spread }, desk.words.each_language, h("span", { className: "sr-only" }, ` ${options.label ?? control.label}`));
}

// ---- simple controls: one labelled element -------------------------------------------------------------

const typed = (desk, control, path, read) => (event) => desk.write(path, read(event.target.value), control);

function line(desk, control, path, value, attributes, read, more = {}) {
  const { explain, ...rest } = attributes;
  return h("input", {
    type: "text",
    value: value === null || value === undefined ? "" : String(value),
    placeholder: control.default !== null && control.default !== undefined ? String(control.default) : control.optional ? desk.words.left_empty : "",
    maxLength: control.longest,
    ...rest,
    ...more,
    oninput: typed(desk, control, path, read),
  });
}

const words = (control) => (text) => (text === "" ? (control.optional ? null : control.default === undefined ? "" : undefined) : text);

// What is not a number stays as typed, and the check says so.
function number(control) {
  return (text) => {
    const trimmed = text.trim().replace(/(?<=\d)[\s,](?=\d{3}\b)/g, "");
    if (trimmed === "") return control.optional ? null : undefined;
    return Number.isFinite(Number(trimmed)) ? Number(trimmed) : text;
  };
}

function area(desk, control, path, value, attributes, read, rows) {
  const { explain, ...rest } = attributes;
  const element = h("textarea", { rows, value: value ?? "", ...rest, oninput: typed(desk, control, path, read) });
  return element;
}

function select(desk, control, path, value, attributes, groups, read = (text) => text) {
  const { explain, ...rest } = attributes;
  const shown = value === null || value === undefined ? "" : String(value);
  const known = groups.flatMap((group) => group.choices).some(([key]) => String(key) === shown);
  const option = ([key, title]) => h("option", { value: key, selected: String(key) === shown }, title);
  return h(
    "select",
    {
      ...rest,
      onchange: (event) => {
        explain?.(event.target.value);
        desk.write(path, event.target.value === "" ? (control.optional ? null : undefined) : read(event.target.value), control);
      },
    },
    control.optional || control.clears || shown === "" ? h("option", { value: "", selected: shown === "" }, control.kind === "agent" ? desk.words.none : "–") : null,
    known || shown === "" ? null : option([shown, fill(desk.words.unknown, { name: shown })]),
    groups.map((group) => (group.title ? h("optgroup", { label: group.title }, group.choices.map(option)) : group.choices.map(option))),
  );
}

const simple = {
  string: (desk, control, path, value, attributes) => line(desk, control, path, value, attributes, words(control)),
  condition: (desk, control, path, value, attributes) =>
    line(desk, control, path, value, attributes, words(control), { className: "plan-code", spellcheck: false, placeholder: path.at(-1) === "show_if" ? desk.words.always : "" }),
  number: (desk, control, path, value, attributes) => line(desk, control, path, value, attributes, number(control), { inputMode: "decimal" }),
  integer: (desk, control, path, value, attributes) => line(desk, control, path, value, attributes, number(control), { inputMode: "numeric" }),
  amount: (desk, control, path, value, attributes) =>
    line(desk, control, path, value, attributes, (text) => (text.trim() === "" ? (control.optional ? null : undefined) : text.trim()), { inputMode: "decimal" }),
  limit: (desk, control, path, value, attributes) => line(desk, control, path, value, attributes, number(control)),
  long: (desk, control, path, value, attributes) => area(desk, control, path, value, attributes, words(control), 2),
  text: (desk, control, path, value, attributes) => {
    if (value !== "default") {
      const element = area(desk, control, path, value, { ...attributes, className: "plan-prose" }, (text) => text, rowsFor(value));
      if (control.default !== "default" || desk.readOnly) return element;
      const back = button(desk.words.use_default, { className: "plan-small", onclick: () => desk.write(path, "default", control, true) });
      return h("div", { className: "plan-stack" }, element, back);
    }
    return h(
      "div",
      { className: "plan-default" },
      h("span", { id: attributes.id, tabIndex: -1 }, desk.words.default_text),
      desk.readOnly ? null : button(desk.words.write_own, { className: "plan-small", onclick: () => desk.ownText(path) }),
    );
  },
  boolean: (desk, control, path, value, { explain, ...attributes }) =>
    h("input", { type: "checkbox", checked: value === true, ...attributes, onchange: (event) => desk.write(path, event.target.checked, control) }),
  choice: (desk, control, path, value, attributes) => {
    const types = new Map(control.choices.map(([key]) => [String(key), key]));
    const element = select(desk, control, path, value, attributes, [{ choices: control.choices }], (text) => types.get(text) ?? text);
    if (control.then) element.addEventListener("change", () => control.then(element.value));
    return element;
  },
  agent: (desk, control, path, value, attributes) => select(desk, control, path, value, attributes, [{ choices: desk.agents().map((label) => [label, label]) }]),
  strategy: (desk, control, path, value, attributes) => select(desk, control, path, value, attributes, [{ choices: desk.strategies() }]),
  entry: (desk, control, path, value, attributes) => select(desk, control, path, value, attributes, [{ choices: desk.forms.entries }]),
  moment: (desk, control, path, value, attributes) => line(desk, control, path, value, attributes, words(control), { type: "datetime-local" }),
  game: (desk, control, path, value, attributes) => {
    const element = select(desk, control, path, value, attributes, [{ choices: Object.entries(desk.forms.games).map(([key, game]) => [key, game.title]) }]);
    element.addEventListener("change", () => desk.changeGame(path.slice(0, -1), element.value));
    return element;
  },
  outcome: (desk, control, path, value, attributes) =>
    select(desk, control, path, value, attributes, desk.outcomes().map(([stage, names]) => ({ title: stage, choices: names.map((name) => [`${stage}.${name}`, name]) }))),
  lines: (desk, control, path, value, attributes) => {
    const isNumber = ["number", "integer"].includes(control.item.kind);
    const read = (text) => {
      const entries = text.split("\n").map((entry) => entry.trim()).filter(Boolean).map((entry) => (isNumber ? number({})(entry) : entry));
      return entries.length || !control.optional ? entries : null;
    };
    const element = area(desk, { ...control, default: control.default ?? [] }, path, (value ?? []).join?.("\n") ?? String(value), attributes, read, Math.min(8, Math.max(2, (value ?? []).length + 1)));
    element.placeholder = desk.words.one_per_line;
    element.addEventListener("change", desk.refreshSoon); // a table beside it may have its rows from here
    return element;
  },
};

const rowsFor = (text) => Math.min(24, Math.max(4, Math.ceil((text ?? "").length / 70) + ((text ?? "").match(/\n/g) ?? []).length));

// ---- composite controls --------------------------------------------------------------------------------

// The fields of a group, those that only some kinds have included when they apply.
export function fields(desk, control, path, options = {}) {
  const kind = tree.get(desk.plan, [...path, "kind"]);
  const inner = { levels: options.levels, literal: options.literal };
  const applies = control.fields.filter((each) => each.kind !== "fixed" && (!each.only || each.only.includes(kind)));
  const draw = (list) => list.map((each) => field(desk, each, [...path, each.name], inner));
  const more = applies.filter((each) => each.more);
  return [...draw(applies.filter((each) => !each.more)), more.length ? moreFields(desk, path, more, draw) : null];
}

// Fields that few studies need, folded until they are asked for.
function moreFields(desk, path, list, draw) {
  const at = [...path, "more"];
  const set = list.filter((each) => tree.get(desk.plan, [...path, each.name])).length;
  const details = h(
    "details",
    { className: "plan-details plan-wide", open: desk.isOpen(at) || list.some((each) => desk.isOpen([...path, each.name])), ontoggle: () => (desk.keepOpen(at, details.open), details.open && unfold()) },
    h("summary", {}, desk.words.more, set ? h("small", {}, ` ${fill(desk.words.changed, { number: set })}`) : null),
  );
  const unfold = () => details.childElementCount < 2 && (details.append(h("div", { className: "plan-fields" }, draw(list))), desk.showFaults());
  if (details.open) details.append(h("div", { className: "plan-fields" }, draw(list)));
  return details;
}

const composite = {
  languages: (desk, control, path) => {
    const chosen = languagesOf(desk);
    const choose = (codes) => desk.write(path, codes.length > 1 ? codes : codes[0], control, true);
    return h("div", { className: "plan-row" }, Object.entries(desk.words.languages).map(([code, name]) => {
      const id = `${desk.id(path)}-${code}`;
      const isOn = chosen.includes(code);
      const onchange = () => choose(isOn ? chosen.filter((each) => each !== code) : [...chosen, code]);
      return h("span", { className: "plan-switch" }, h("input", { type: "checkbox", id, checked: isOn, disabled: desk.readOnly || (isOn && chosen.length === 1), onchange }), h("label", { htmlFor: id }, name));
    }));
  },
  group: (desk, control, path, options) => {
    if (!control.optional) return folded(desk, control, path, options);
    const node = tree.get(desk.plan, path);
    const on = node === undefined ? control.default !== null : node !== null;
    const id = desk.id(path);
    const turn = h("input", {
      type: "checkbox",
      id,
      checked: on,
      disabled: desk.readOnly,
      onchange: (event) => {
        const usual = control.default === null ? undefined : null;
        desk.write(path, event.target.checked ? (control.default === null ? emptyOf(control) : undefined) : usual === null ? null : undefined, undefined, true);
      },
    });
    return h(
      "div",
      { className: `plan-stack plan-optional${on ? " plan-on" : ""}` },
      h("div", { className: "plan-head" }, h("span", { className: "plan-switch" }, turn, h("label", { htmlFor: id, className: "plan-title" }, options.label ?? control.label)), varyButton(desk, control, path, options)),
      on ? h("div", { className: "plan-fields" }, fields(desk, control, path, options)) : null,
    );
  },
  list: (desk, control, path, options) => {
    const items = tree.get(desk.plan, path) ?? control.default ?? [];
    const own = tree.get(desk.plan, path) !== undefined && tree.get(desk.plan, path) !== null;
    const change = (edit) => {
      const copy = tree.clone(Array.isArray(items) ? items : []);
      const at = edit(copy);
      desk.write(path, copy.length || !control.optional ? copy : null, control, true);
      if (at !== undefined && copy.length) desk.focus([...path, Math.min(at, copy.length - 1)]);
    };
    const inner = own || !items.length ? desk : withDefaults(desk, path, items);
    const one = control.item.label || desk.words.entry;
    return h(
      "div",
      { className: "plan-stack" },
      items.map((item, index) => card(inner, control.item, [...path, index], itemTitle(desk, one, item, index), options, {
        up: index > 0 && (() => change((list) => (list.splice(index - 1, 0, list.splice(index, 1)[0]), index - 1))),
        down: index < items.length - 1 && (() => change((list) => (list.splice(index + 1, 0, list.splice(index, 1)[0]), index + 1))),
        copy: () => change((list) => (list.splice(index + 1, 0, withFreeName(desk, list[index], list)), index + 1)),
        remove: () => change((list) => (list.splice(index, 1), index)),
      })),
      items.length ? null : h("p", { className: "plan-help" }, control.optional ? desk.words.none : desk.words.empty),
      desk.readOnly
        ? null
        : button(fill(desk.words.add, { what: one.toLowerCase() }), { symbol: "add", className: "plan-small", id: `${desk.id(path)}-add`, onclick: () => change((list) => (list.push(withFreeName(desk, emptyOf(control.item), list)), list.length - 1)) }),
    );
  },
  map: (desk, control, path) => {
    const seats = control.item.kind === "agent" ? desk.seats(path) : [];
    const map = tree.get(desk.plan, path) ?? {};
    const keys = Object.keys(map);
    const rename = (old, key) => {
      if (key && key !== old && !(key in map)) desk.write(path, Object.fromEntries(Object.entries(map).map(([name, value]) => [name === old ? key : name, value])));
      desk.refreshSoon();
    };
    if (seats.length) return h("div", { className: "plan-fields" }, seats.map(({ role, title }) => field(desk, { ...control.item, label: title, clears: true }, [...path, role], { literal: true })));
    return h(
      "div",
      { className: "plan-stack" },
      keys.map((key) =>
        h(
          "div",
          { className: "plan-mapped" },
          h("input", { type: "text", id: `${desk.id([...path, key])}-key`, value: key, "aria-label": fill(desk.words.name_of, { what: control.label }), disabled: desk.readOnly, onchange: (event) => rename(key, event.target.value.trim()) }),
          field(desk, { ...control.item, label: key }, [...path, key], { literal: true, bare: true }),
          desk.readOnly ? null : button("", { symbol: "close", label: fill(desk.words.remove, { what: key }), className: "plan-icon", onclick: () => desk.write([...path, key], undefined, undefined, true) }),
        ),
      ),
      desk.readOnly ? null : button(fill(desk.words.add, { what: desk.words.entry.toLowerCase() }), { symbol: "add", className: "plan-small", onclick: () => desk.write([...path, fresh(keys)], emptyOf(control.item), undefined, true) }),
    );
  },
  grid: (desk, control, path) => {
    const rows = tree.get(desk.plan, path) ?? control.default ?? [];
    const width = Math.max(1, ...rows.map((row) => (Array.isArray(row) ? row.length : 1)));
    const isNumber = ["number", "integer"].includes(control.item.kind);
    const write = (copy, redraw) => desk.write(path, copy.length || !control.optional ? copy : null, undefined, redraw);
    const cell = (row, column) =>
      h("td", {}, h("input", {
        type: "text",
        value: rows[row]?.[column] ?? "",
        "aria-label": `${control.label} ${row + 1}, ${column + 1}`,
        inputMode: isNumber ? "decimal" : "text",
        disabled: desk.readOnly,
        oninput: (event) => {
          const copy = tree.clone(tree.get(desk.plan, path) ?? []);
          const text = event.target.value.trim();
          copy[row][column] = isNumber ? number({})(text) ?? null : text;
          while (copy[row].length && (copy[row].at(-1) === null || copy[row].at(-1) === "")) copy[row].pop();
          for (let i = 0; i < copy[row].length; i++) copy[row][i] ??= isNumber ? 0 : "";
          write(copy, false);
        },
      }));
    return h(
      "div",
      { className: "plan-stack" },
      rows.length
        ? h("div", { className: "plan-scroll", tabIndex: 0, role: "region", "aria-label": control.label }, h("table", { className: "plan-grid" }, h("tbody", {}, rows.map((_, row) => h("tr", {}, h("th", { scope: "row" }, String(row + 1)), Array.from({ length: width }, (_, column) => cell(row, column)), desk.readOnly ? null : h("td", {}, button("", { symbol: "close", className: "plan-icon", label: fill(desk.words.remove, { what: `${desk.words.row} ${row + 1}` }), onclick: () => write(rows.filter((_, each) => each !== row), true) })))))))
        : h("p", { className: "plan-help" }, desk.words.none),
      desk.readOnly
        ? null
        : h(
            "div",
            { className: "plan-row" },
            button(fill(desk.words.add, { what: desk.words.row }), { symbol: "add", className: "plan-small", onclick: () => write([...rows, tree.clone(rows.at(-1)) ?? [isNumber ? 1 : "a"]], true) }),
            rows.length ? button(fill(desk.words.add, { what: desk.words.column }), { symbol: "add", className: "plan-small", onclick: () => write(rows.map((row) => [...row, isNumber ? 1 : `${row.at(-1) ?? ""}2`]), true) }) : null,
          ),
    );
  },
  config: (desk, control, path, options) => {
    const game = desk.forms.games[tree.get(desk.plan, [...path.slice(0, -1), "game"])];
    return game ? h("div", { className: "plan-fields" }, fields(desk, game.config, path, { levels: options.levels })) : h("p", { className: "plan-help" }, desk.words.choose_game);
  },
  seats: (desk, control, path, options) => {
    const seats = tree.get(desk.plan, path) ?? control.default ?? { "*": "person" };
    const all = desk.seats(path);
    const few = all.length <= 2;
    const others = { role: "*", title: desk.words.other_seats, person: true };
    const known = new Set(all.map((seat) => seat.role));
    const named = all.filter((seat) => few || seat.role in seats);
    const odd = Object.keys(seats).filter((role) => role !== "*" && !known.has(role)).map((role) => ({ role, title: role, person: true }));
    const free = all.filter((seat) => !few && !(seat.role in seats));
    const shown = [...named, ...odd, ...((!few && (free.length || "*" in seats)) || odd.length ? [others] : [])];
    return h(
      "div",
      { className: "plan-stack" },
      shown.map((seat) => seatField(desk, path, seats, seat, few, options)),
      free.length && !desk.readOnly
        ? button(desk.words.name_seat, { symbol: "add", className: "plan-small", onclick: () => desk.write(path, { [free[0].role]: seats["*"] ?? "person", ...seats }, undefined, true) })
        : null,
    );
  },
  endings: (desk, control, path) =>
    h(
      "details",
      { className: "plan-details", open: desk.isOpen(path), ontoggle: (event) => desk.keepOpen(path, event.target.open) },
      h("summary", {}, changes(desk, path)),
      h("div", { className: "plan-fields" }, Object.entries(control.endings).map(([ending, [pays, usual]]) =>
        field(desk, { kind: "choice", label: desk.words.endings[ending] ?? ending, default: usual, choices: pays.map((each) => [each, desk.words.pays[each] ?? each]) }, [...path, ending], { literal: false }))),
    ),
  agents: (desk, control, path) => {
    const write = (list) => desk.write(path, list.length > 1 ? list : list.length ? list[0] : undefined, undefined, true);
    return names(desk, control, path, desk.agents().filter((label) => label !== path[1]), desk.words.add_agent_here, write);
  },
  answers: (desk, control, path) => names(desk, control, path, desk.questions(), desk.words.add_question_here, (list) => desk.write(path, list, control, true)),
  contrast: (desk, control, path) => {
    const { words } = desk;
    const value = tree.get(desk.plan, path) ?? {};
    const factors = Object.keys(desk.plan.factors ?? {});
    const levels = (name) => desk.levels(name).slice(0, 2);
    const one = (label, at, known, write, titles = {}) =>
      field(desk, { kind: "choice", label, choices: known.map((name) => [name, titles[name] ?? name]), then: write }, [...path, ...at], { literal: true });
    const pair = (known, at, titles) => [one(words.first_level, [...at, 0], known, null, titles), one(words.minus_level, [...at, 1], known, null, titles)];
    const kinds = {
      factor: [words.compare_levels, { factor: factors[0] ?? "", levels: levels(factors[0]) }],
      factors: [words.compare_factors, { factors: factors.slice(0, 2), levels: factors.slice(0, 2).map(levels) }],
      players: [words.compare_players, { players: ["human", "agent"] }],
    };
    const kind = Object.keys(kinds).find((name) => name in value) ?? "";
    const choose = h(
      "select",
      { id: desk.id(path), disabled: desk.readOnly, "aria-label": control.label, onchange: (event) => desk.write(path, kinds[event.target.value][1], undefined, true) },
      kind ? null : h("option", { value: "" }, "–"),
      Object.entries(kinds).map(([name, [title]]) => h("option", { value: name, selected: name === kind, disabled: name === "factors" && factors.length < 2 }, title)),
    );
    const seat = tree.get(desk.plan, [...path.slice(0, -1), "outcome"])?.split(".")[0];
    const game = [...tree.stages(desk.plan.journey)].find(([, stage]) => stage.name === seat)?.[0];
    const parts = {
      factor: () => [
        one(words.factor, ["factor"], factors, (name) => desk.write([...path, "levels"], levels(name), undefined, true)),
        pair(desk.levels(value.factor), ["levels"]),
      ],
      factors: () => [0, 1].map((index) => [
        one(words.factor, ["factors", index], factors, (name) => desk.write([...path, "levels", index], levels(name), undefined, true)),
        pair(desk.levels(value.factors[index]), ["levels", index]),
      ]),
      players: () => [
        pair(["human", "agent"], ["players"], { human: words.people, agent: words.agents }),
        field(desk, { kind: "choice", label: words.in_seat, optional: true, default: null, choices: (game ? desk.seats(game) : []).map(({ role, title }) => [role, title]) }, [...path, "role"], { literal: true }),
      ],
    };
    return h("div", { className: "plan-stack" }, choose, kind ? h("div", { className: "plan-fields" }, parts[kind]()) : null);
  },
  own: (desk, control, path, options) => {
    const value = tree.get(desk.plan, path) ?? control.default;
    const id = desk.id(path);
    const choose = h(
      "select",
      { id, "aria-label": control.label, disabled: desk.readOnly, onchange: (event) => desk.write(path, event.target.value === "own" ? [emptyOf(control.item)] : "default", control, true) },
      h("option", { value: "default", selected: value === "default" }, desk.words.default_questions),
      h("option", { value: "own", selected: value !== "default" }, desk.words.own_questions),
    );
    return h("div", { className: "plan-stack" }, choose, value === "default" ? null : composite.list(desk, { ...control, default: [] }, path, options));
  },
  payoffs: (desk, control, path) => {
    const actions = tree.get(desk.plan, [...path.slice(0, -1), "actions"]) ?? [2, 2];
    const names = tree.get(desk.plan, [...path.slice(0, -2), "action_names"]) ?? [];
    const points = tree.get(desk.plan, path) ?? {};
    const profiles = actions.reduce((found, size) => found.flatMap((each) => Array.from({ length: Math.min(size, 10) }, (_, action) => [...each, action])), [[]]).slice(0, 200);
    const name = (action) => names[action] ?? `A${action}`;
    const odd = Object.keys(points).filter((key) => !profiles.some((profile) => profile.join(",") === key));
    const seat = (number) => fill(desk.words.seat, { number: number + 1 });
    return [h(
      "div",
      { className: "plan-scroll", tabIndex: 0, role: "region", "aria-label": control.label },
      h(
        "table",
        { className: "plan-grid" },
        h("thead", {}, h("tr", {}, actions.map((_, i) => h("th", { scope: "col" }, seat(i))), actions.map((_, i) => h("th", { scope: "col" }, fill(desk.words.points_of, { seat: seat(i) }))))),
        h("tbody", {}, profiles.map((profile) => {
          const key = profile.join(",");
          return h("tr", {}, profile.map((action) => h("th", { scope: "row" }, name(action))), profile.map((_, i) => h("td", {}, h("input", {
            type: "text",
            inputMode: "decimal",
            value: points[key]?.[i] ?? "",
            disabled: desk.readOnly,
            "aria-label": `${profile.map(name).join(", ")}: ${fill(desk.words.points_of, { seat: seat(i) })}`,
            oninput: (event) => {
              const row = tree.clone(tree.get(desk.plan, [...path, key]) ?? actions.map(() => 0));
              row[i] = number({})(event.target.value) ?? 0;
              desk.write([...path, key], row);
            },
          }))));
        })),
      ),
    ), odd.length && !desk.readOnly ? button(desk.words.odd_points, { symbol: "close", className: "plan-small", onclick: () => desk.write(path, Object.fromEntries(Object.entries(points).filter(([key]) => !odd.includes(key))), undefined, true) }) : null];
  },
  media: (desk, control, path, options) => {
    const value = tree.get(desk.plan, path);
    const src = desk.media[value];
    const refused = h("p", { className: "plan-refused", role: "alert", hidden: true });
    const refuse = (reason) => ((refused.textContent = reason), (refused.hidden = !reason));
    return h(
      "div",
      { className: "plan-stack" },
      value && src && (control.media === "video" ? h("video", { className: "plan-media", src, controls: true, preload: "metadata" }) : h("img", { className: "plan-media", src, alt: "" })),
      value ? h("span", { className: "plan-chip" }, String(value), desk.readOnly ? null : button("", { symbol: "close", className: "plan-icon", label: fill(desk.words.remove, { what: control.label }), onclick: () => desk.write(path, undefined, undefined, true) })) : null,
      desk.readOnly ? null : h("input", { type: "file", id: desk.id(path), "aria-label": control.label, accept: `${control.media}/*`, onchange: (event) => desk.upload(path, event.target.files[0], control.media, refuse) }),
      refused,
    );
  },
};

const changes = (desk, path) => {
  const number = Object.keys(tree.get(desk.plan, path) ?? {}).length;
  return number ? fill(desk.words.changed, { number }) : desk.words.as_usual;
};

// Names chosen from those that exist, in order.
function names(desk, control, path, known, more, write) {
  const value = tree.get(desk.plan, path);
  const chosen = value === undefined || value === null ? [] : Array.isArray(value) ? value : [value];
  const free = known.filter((name) => !chosen.includes(name));
  return h(
    "div",
    { className: "plan-row" },
    chosen.map((name, index) => h("span", { className: "plan-chip" }, name, desk.readOnly ? null : button("", { symbol: "close", className: "plan-icon", label: fill(desk.words.remove, { what: name }), onclick: () => write(chosen.filter((_, each) => each !== index)) }))),
    desk.readOnly || !free.length
      ? chosen.length ? null : h("span", { className: "plan-help" }, desk.words.none)
      : h("select", { id: desk.id(path), "aria-label": fill(desk.words.add, { what: control.label }), onchange: (event) => event.target.value && write([...chosen, event.target.value]) }, h("option", { value: "" }, more), free.map((name) => h("option", { value: name }, name))),
  );
}

function folded(desk, control, path, options) {
  const inside = h("div", { className: "plan-fields" });
  const draw = () => inside.childElementCount || inside.append(...fields(desk, control, path, options).filter(Boolean));
  if (options.bare) return draw(), inside;
  if (path.length === 2) { // on a page of its own section, nothing else needs the room
    draw();
    return h("div", { className: "plan-stack plan-section" }, h("div", { className: "plan-head" }, h("h3", {}, options.label ?? control.label), varyButton(desk, control, path, options)), inside);
  }
  const details = h(
    "details",
    {
      className: "plan-details",
      open: desk.isOpen(path),
      ontoggle: () => (desk.keepOpen(path, details.open), details.open && (draw(), desk.showFaults())),
    },
    h("summary", {}, h("span", { className: "plan-title" }, options.label ?? control.label), h("small", {}, ` ${changes(desk, path)}`)),
    h("div", { className: "plan-head" }, h("span", { className: "plan-help" }, control.about ?? ""), varyButton(desk, control, path, options)),
    inside,
  );
  if (details.open) draw();
  return details;
}

function seatField(desk, path, seats, seat, few, options) {
  const explicit = seat.role in seats;
  const at = [...path, seat.role];
  const value = explicit ? seats[seat.role] : seats["*"];
  if (tree.isVaried(value) && explicit) return variedField(desk, seatControl(desk, seat), at, value, { ...options, label: seat.title, prefix: undefined });
  const name = few && tree.isVaried(value) ? "*" : seat.role;
  if (name === "*" && tree.isVaried(value)) return variedField(desk, seatControl(desk, seat), [...path, "*"], value, { ...options, label: seat.title, prefix: undefined });
  const written = explicit ? at : [...path, "*"]; // where a fault of what stands there is reported
  return field(desk, { ...seatControl(desk, seat), default: explicit ? undefined : value }, at, { ...options, at: written, label: seat.title, prefix: undefined });
}

export const seatControl = (desk, seat) => ({ kind: "player", label: seat.title, person: seat.person, help: "" });

simple.player = (desk, control, path, value, attributes) => {
  const several = Array.isArray(value);
  const agents = desk.agents();
  const choices = [...(control.person === false ? [] : [["person", desk.words.participant]]), ...agents.map((label) => [label, label])];
  const element = h(
    "select",
    {
      id: attributes.id,
      disabled: desk.readOnly,
      "aria-describedby": attributes["aria-describedby"],
      onchange: (event) => {
        const chosen = event.target.value;
        if (chosen === "+") return desk.addAgent(path);
        desk.write(path, chosen === "[]" ? [...agents] : chosen, undefined, chosen === "[]" || several);
      },
    },
    !several && value !== undefined && !choices.some(([key]) => key === value) ? h("option", { value, selected: true }, fill(desk.words.unknown, { name: value })) : null,
    choices.map(([key, title]) => h("option", { value: key, selected: key === value }, title)),
    agents.length > 1 || several ? h("option", { value: "[]", selected: several }, desk.words.one_of) : null,
    h("option", { value: "+" }, desk.words.new_agent),
  );
  if (!several) return element;
  return h("div", { className: "plan-stack" }, element, h("span", { className: "plan-row" }, agents.map((label) => h("label", { className: "plan-switch" }, h("input", {
    type: "checkbox",
    checked: value.includes(label),
    disabled: desk.readOnly,
    onchange: (event) => desk.write(path, agents.filter((each) => (each === label ? event.target.checked : value.includes(each))), undefined, true),
  }), h("span", {}, label)))));
};

// A desk on which a default list can be edited: it is written into the plan with the first change.
function withDefaults(desk, path, items) {
  const plan = tree.clone(desk.plan);
  tree.put(plan, path, tree.clone(items));
  const first = () => tree.get(desk.plan, path) ?? tree.put(desk.plan, path, tree.clone(items));
  return {
    ...desk,
    plan,
    write: (...change) => (first(), desk.write(...change)),
    vary: (...change) => (first(), desk.vary(...change)),
  };
}

// One entry of a list: a card with its title, buttons and fields.
function card(desk, control, path, title, options, actions) {
  const isGroup = control.kind === "group";
  const tools = desk.readOnly
    ? null
    : h(
        "span",
        { className: "plan-tools" },
        actions.up ? button("", { symbol: "arrow_upward", className: "plan-icon", label: fill(desk.words.move_up, { what: title }), onclick: actions.up }) : null,
        actions.down ? button("", { symbol: "arrow_downward", className: "plan-icon", label: fill(desk.words.move_down, { what: title }), onclick: actions.down }) : null,
        button("", { symbol: "content_copy", className: "plan-icon", label: fill(desk.words.copy, { what: title }), onclick: actions.copy }),
        button("", { symbol: "close", className: "plan-icon", label: fill(desk.words.remove, { what: title }), onclick: actions.remove }),
      );
  const inside = isGroup
    ? h("div", { className: "plan-fields" }, fields(desk, control, path, { levels: options.levels }))
    : field(desk, { ...control, label: title }, path, { bare: true, literal: true });
  return h("div", { className: "plan-card", id: `${desk.id(path)}-card`, tabIndex: -1, ...marks(desk, path, options) }, h("div", { className: "plan-head" }, h("strong", {}, title), tools), inside, h("p", { className: "plan-fault", id: `${desk.id(path)}-fault`, hidden: true }));
}

function itemTitle(desk, one, item, index) {
  const name = tree.isObject(item) ? item.name ?? item.id ?? item.text : "";
  return [`${one} ${index + 1}`, typeof name === "string" && name ? name.slice(0, 40) : ""].filter(Boolean).join(": ");
}

function withFreeName(desk, item, others) {
  const copy = tree.clone(item);
  if (tree.isObject(copy) && typeof copy.name === "string") copy.name = tree.freeName(desk.plan, copy.name || "question", others.map(({ name }) => name));
  return copy;
}

function fresh(keys) {
  let number = keys.length + 1;
  while (keys.includes(`new ${number}`)) number++;
  return `new ${number}`;
}

// The least that a new value needs; what has a default is left out.
export function emptyOf(control) {
  if (control.example !== undefined) return tree.clone(control.example);
  if (control.default !== undefined && control.default !== null && control.kind !== "group") return tree.clone(control.default);
  if (control.kind === "group") {
    const needed = control.fields.filter((each) => each.required);
    return Object.fromEntries(needed.map((each) => [each.name, each.name === "kind" ? each.choices[0][0] : emptyOf(each)]));
  }
  if (["list", "lines"].includes(control.kind)) return Array.from({ length: control.least ?? 0 }, () => (control.item ? emptyOf(control.item) : ""));
  if (control.kind === "grid") return [[["number", "integer"].includes(control.item.kind) ? 1 : "a"]];
  if (["map", "payoffs", "config", "endings", "contrast"].includes(control.kind)) return {};
  if (["number", "integer"].includes(control.kind)) return Math.max(control.min ?? 0, control.above !== undefined ? control.above + 1 : 0);
  if (control.kind === "boolean") return false;
  if (control.kind === "choice") return control.choices[0][0];
  return "";
}
