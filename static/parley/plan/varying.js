// Factors: "vary by…" where a value is used, and a factor's own page.
import { button, fill, h } from "./controls.js";
import * as tree from "./tree.js";

const SCALARS = new Set(["number", "integer", "amount", "boolean", "choice", "player", "agent"]);

// The named blocks around a path, the innermost last.
export const blocksAround = (plan, path) =>
  path.map((_, depth) => tree.get(plan, path.slice(0, depth))).filter((node) => node?.stage === "block" && node.name);

// The factors that a value at this path may depend on.
export const usableAt = (plan, path) => {
  const blocks = blocksAround(plan, path).map((block) => block.name);
  return Object.entries(plan.factors ?? {}).filter(([, factor]) => !factor.within || blocks.includes(factor.within)).map(([name]) => name);
};

export function readLevels(text) {
  const entries = text.split(/[\n,;]/).map((entry) => entry.trim()).filter(Boolean);
  const levels = entries.map((entry) => (/^-?\d+(\.\d+)?$/.test(entry) ? Number(entry) : entry));
  return levels.every((level) => typeof level === "number") ? levels : entries;
}

// The value that a level stands for in a control; undefined if it is only a name.
export function valueOf(desk, control, level) {
  const text = tree.levelKey(level).toLowerCase();
  if (["number", "integer"].includes(control.kind)) {
    if (control.optional && text === desk.words.none.toLowerCase()) return null;
    return Number.isFinite(Number(text)) ? Number(text) : undefined;
  }
  if (control.kind === "amount") return Number.isFinite(Number(text)) ? Number(text).toFixed(2) : undefined;
  if (control.kind === "boolean") return { yes: true, on: true, true: true, no: false, off: false, false: false }[text];
  if (control.kind === "choice") return control.choices.map(([key]) => key).find((key) => String(key) === tree.levelKey(level));
  if (["player", "agent"].includes(control.kind)) return desk.agents().includes(String(level)) ? level : undefined;
  return undefined;
}

// The published rows that may give a game's parameters, by what the dialog calls them.
const rowsFor = (desk, control, path) => {
  if (control.kind !== "config") return [];
  const key = tree.get(desk.plan, [...path.slice(0, -1), "game"]);
  const { tables = [], selections = [] } = desk.forms.games[key] ?? {};
  return [...tables.map((name) => ["table", name]), ...selections.map((name) => ["selection", name])].map(([kind, name]) => ({ game: key, [kind]: name, title: `${desk.words[kind]}: ${name}` }));
};

// Parameters from published rows; those of a selection also say who takes which seat, and how often.
function varyByRows(desk, path, { title: _title, ...rows }) {
  const { plan } = desk;
  const name = tree.freeName(plan, "row");
  (plan.factors ??= {})[name] = { rows };
  tree.put(plan, path, { by: `${name}.config` });
  if (rows.selection && !path.includes("of")) {
    const roles = desk.seats(path).filter((seat) => seat.person).map((seat) => seat.role);
    const seats = roles.map((role) => [role, { [role]: "person", "*": desk.agents()[0] ?? "person" }]);
    tree.put(plan, [...path.slice(0, -1), "seats"], { by: `${name}.role`, values: Object.fromEntries(seats) });
    plan.cells = { ...plan.cells, rows: name };
    delete plan.cells.listed;
  }
  tree.dropUnused(plan);
  desk.changed();
  desk.refresh();
  desk.focus(path);
}

const suggested = { text: "wording", player: "opponent", agent: "agent" };

function suggestedLevels(desk, control) {
  if (control.kind === "boolean") return "yes, no";
  if (control.kind === "player") return desk.agents().length > 1 ? desk.agents().join(", ") : "";
  if (control.kind === "choice") return control.choices.map(([key]) => key).join(", ");
  return "";
}

// Ask for a factor and its levels, and let the value at the path depend on it.
export function ask(desk, control, path) {
  const { words, plan } = desk;
  const usable = usableAt(plan, path);
  const blocks = blocksAround(plan, path);
  const label = control.label;
  const radio = (value, title, checked) =>
    h("label", { className: "plan-switch" }, h("input", { type: "radio", name: "factor", value, checked, onchange: show }), h("span", {}, title));
  const name = h("input", { type: "text", id: "vary-name", value: tree.freeName(plan, suggested[control.kind] ?? path.at(-1).toString()), spellcheck: false, maxLength: 40 });
  const levels = h("input", { type: "text", id: "vary-levels", value: suggestedLevels(desk, control), placeholder: words.levels_example, oninput: show });
  const within = h("select", { id: "vary-within" }, h("option", { value: "" }, words.between), blocks.map((block) => h("option", { value: block.name }, fill(words.within, { block: block.name }))));
  const itself = h("input", { type: "checkbox", id: "vary-itself", checked: true });
  const itselfRow = h("span", { className: "plan-switch" }, itself, h("label", { htmlFor: "vary-itself" }, words.itself));
  const fault = h("p", { className: "plan-fault", role: "alert", hidden: true });
  const fresh = h(
    "div",
    { className: "plan-fields" },
    labelled("vary-name", words.factor_name, name, words.factor_name_help),
    labelled("vary-levels", words.levels, levels, words.levels_help),
    blocks.length ? labelled("vary-within", words.who_meets, within) : null,
  );
  const known = usable.map((factor) => radio(factor, `${factor}: ${desk.levels(factor).slice(0, 6).join(", ")}`, false));
  const published = rowsFor(desk, control, path);
  const rows = published.map((each, i) => radio(`rows ${i}`, fill(words.published, { rows: each.title }), false));
  const dialog = h(
    "dialog",
    { className: "plan-dialog", "aria-labelledby": "vary-title" },
    h(
      "form",
      { method: "dialog", onsubmit: (event) => (event.preventDefault(), accept()) },
      h("h2", { id: "vary-title" }, fill(words.vary_title, { label })),
      known.length + rows.length ? h("div", { className: "plan-stack", role: "radiogroup", "aria-label": words.factor }, known, radio("", words.new_factor, true), rows) : null,
      fresh,
      itselfRow,
      fault,
      h("div", { className: "plan-row plan-end" }, button(words.cancel, { onclick: () => dialog.close() }), h("button", { type: "submit", className: "plan-button plan-main" }, words.vary_now)),
    ),
  );
  const chosen = () => dialog.querySelector("[name=factor]:checked")?.value ?? "";
  const current = () => (chosen().startsWith("rows ") ? [] : chosen() ? desk.levels(chosen()) : readLevels(levels.value));

  function show() {
    fresh.hidden = chosen() !== "";
    const values = current().map((level) => valueOf(desk, control, level));
    const sure = SCALARS.has(control.kind) && control.kind !== "boolean" && values.length > 1 && values.every((value) => value !== undefined && value !== null);
    itselfRow.hidden = !sure;
    return sure;
  }

  function accept() {
    const known = chosen();
    if (known.startsWith("rows ")) return dialog.close(), varyByRows(desk, path, published[known.slice(5)]);
    const given = current();
    const key = known || name.value.trim();
    const problem = known ? "" : problemOf(desk, key, given);
    fault.textContent = problem;
    fault.hidden = !problem;
    if (problem) return;
    if (!known) (plan.factors ??= {})[key] = { levels: given, ...(within.value ? { within: within.value } : {}) };
    const now = tree.get(plan, path);
    const value = now === undefined ? control.default : now;
    const alone = show() && itself.checked;
    const values = Object.fromEntries(given.map((level) => [tree.levelKey(level), valueOf(desk, control, level) ?? tree.clone(value === undefined ? null : value)]));
    if (control.kind === "boolean" && new Set(Object.values(values)).size === 1) Object.keys(values).forEach((level, i) => (values[level] = i === 0));
    tree.put(plan, path, alone ? { by: key } : { by: key, values });
    desk.tidySeats(path);
    dialog.close();
    desk.changed();
    desk.refresh();
    desk.focus(alone ? path : [...path, "values", tree.levelKey(given[0])]);
  }

  dialog.addEventListener("close", () => dialog.remove());
  desk.root.append(dialog);
  show();
  dialog.showModal();
  levels.focus();
}

function labelled(id, label, input, help) {
  return h("div", { className: "plan-field plan-wide" }, h("label", { htmlFor: id }, label), input, help ? h("p", { className: "plan-help" }, help) : null);
}

function problemOf(desk, name, levels) {
  if (!tree.isName(name)) return desk.words.bad_name;
  if (tree.namesIn(desk.plan).has(name) || tree.freeName(desk.plan, name) !== name) return fill(desk.words.taken_name, { name });
  if (levels.length < 2) return desk.words.two_levels;
  return new Set(levels.map(tree.levelKey)).size < levels.length ? desk.words.level_twice : "";
}

// ---- a factor's page -----------------------------------------------------------------------------------

export function factorPage(desk, name) {
  const { plan, words } = desk;
  const factor = plan.factors?.[name];
  if (!factor) return h("p", { className: "plan-help" }, words.no_factor);
  const at = (part) => ({ "data-at": ["factors", name, ...part].join("."), "data-levels": "{}" });
  const rename = (event) => {
    const wish = event.target.value.trim();
    if (wish === name) return;
    if (!tree.isName(wish) || tree.freeName(plan, wish) !== wish) return desk.say(words.bad_name), (event.target.value = name);
    tree.renameFactor(plan, name, wish);
    desk.changed();
    setTimeout(() => desk.open("factor", wish, false));
  };
  const uses = tree.usesOf(plan, name);
  const blocks = [...tree.stages(plan.journey)].map(([, stage]) => stage).filter((stage) => stage.stage === "block" && stage.name);
  const within = h(
    "select",
    { id: "factor-within", disabled: desk.readOnly, onchange: (event) => desk.write(["factors", name, "within"], event.target.value || undefined) },
    h("option", { value: "" }, words.between),
    blocks.map((block) => h("option", { value: block.name, selected: factor.within === block.name }, fill(words.within, { block: block.name }))),
  );
  return h(
    "div",
    { className: "plan-fields plan-field", ...at([]) },
    labelled("factor-name", words.factor_name, h("input", { type: "text", id: "factor-name", value: name, disabled: desk.readOnly, onchange: rename }), words.factor_name_help),
    h("p", { className: "plan-fault", hidden: true }),
    factor.rows ? rowsOf(desk, name, factor.rows) : levelsList(desk, name, factor),
    blocks.length || factor.within ? labelled("factor-within", words.who_meets, within) : null,
    h(
      "div",
      { className: "plan-wide" },
      h("h3", {}, words.used_at),
      uses.length ? h("ul", { className: "plan-links" }, uses.map(([path]) => h("li", {}, h("button", { type: "button", className: "plan-link", onclick: () => desk.jump(tree.resolvedPath(plan, path).join(".")) }, desk.placeOf(path))))) : h("p", { className: "plan-help" }, words.unused),
    ),
    desk.readOnly
      ? null
      : button(words.remove_factor, {
          symbol: "delete",
          className: "plan-small",
          onclick: () => (tree.removeFactor(plan, name), desk.changed(), desk.open("study")),
        }),
  );
}

function levelsList(desk, name, factor) {
  const { plan, words } = desk;
  const named = !Array.isArray(factor.levels);
  const keys = tree.levelsOf(factor);
  const done = (change) => (change(), desk.changed(), desk.refreshSoon());
  const parse = (text) => (!named && /^-?\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : text.trim());
  const rename = (old) => (event) => {
    const level = parse(event.target.value);
    if (tree.levelKey(level) === old) return;
    if (level === "" || keys.includes(tree.levelKey(level))) return desk.say(words.level_twice), (event.target.value = old);
    done(() => tree.renameLevel(plan, name, old, level));
  };
  const fresh = h("input", { type: "text", id: "factor-new", "aria-label": words.new_level, onkeydown: (event) => event.key === "Enter" && (event.preventDefault(), add()) });
  const add = () => {
    const level = parse(fresh.value);
    if (level === "" || keys.includes(tree.levelKey(level))) return desk.say(words.level_twice);
    done(() => tree.addLevel(plan, name, level));
  };
  const move = (index, by) =>
    done(() => {
      if (!named) return factor.levels.splice(index + by, 0, factor.levels.splice(index, 1)[0]);
      const entries = Object.entries(factor.levels);
      entries.splice(index + by, 0, entries.splice(index, 1)[0]);
      factor.levels = Object.fromEntries(entries);
    });
  return h(
    "div",
    { className: "plan-field plan-wide", "data-at": `factors.${name}.levels`, "data-levels": "{}" },
    h("h3", {}, words.levels),
    h("ol", { className: "plan-levels-list" }, keys.map((key, index) =>
      h(
        "li",
        {},
        h("input", { type: "text", id: `factor-level-${index}`, value: key, "aria-label": fill(words.level_number, { number: index + 1 }), disabled: desk.readOnly, onchange: rename(key) }),
        desk.readOnly
          ? null
          : h(
              "span",
              { className: "plan-tools" },
              index ? button("", { symbol: "arrow_upward", className: "plan-icon", label: fill(words.move_up, { what: key }), onclick: () => move(index, -1) }) : null,
              index < keys.length - 1 ? button("", { symbol: "arrow_downward", className: "plan-icon", label: fill(words.move_down, { what: key }), onclick: () => move(index, 1) }) : null,
              keys.length > 1 ? button("", { symbol: "close", className: "plan-icon", label: fill(words.remove, { what: key }), onclick: () => done(() => tree.removeLevel(plan, name, key)) }) : null,
            ),
        named ? partsOf(desk, ["factors", name, "levels", key]) : null,
      ))),
    desk.readOnly ? null : h("div", { className: "plan-row" }, fresh, button(words.add_level, { symbol: "add", id: "factor-add", className: "plan-small", onclick: add })),
    h("p", { className: "plan-fault", hidden: true }),
  );
}

// The parts of a level that is an object, which the plan reads with "by: FACTOR.part".
function partsOf(desk, path) {
  const level = tree.get(desk.plan, path);
  if (!tree.isObject(level)) return null;
  return h("div", { className: "plan-fields" }, [...tree.walk(level)].filter(([at, value]) => at.length && (value === null || typeof value !== "object")).map(([at, value]) => {
    const id = desk.id([...path, ...at]);
    const read = (text) => (typeof value === "number" ? (Number.isFinite(Number(text)) ? Number(text) : text) : text);
    const input = typeof value === "boolean"
      ? h("input", { type: "checkbox", id, checked: value, disabled: desk.readOnly, onchange: (event) => desk.write([...path, ...at], event.target.checked) })
      : h("input", { type: "text", id, value: value ?? "", disabled: desk.readOnly, oninput: (event) => desk.write([...path, ...at], read(event.target.value)) });
    return h("div", { className: "plan-field" }, h("label", { htmlFor: id }, at.join(".")), input);
  }));
}

function rowsOf(desk, name, rows) {
  const { words, forms } = desk;
  const sources = (game) => [...(forms.games[game]?.tables ?? []).map((each) => ["table", each]), ...(forms.games[game]?.selections ?? []).map((each) => ["selection", each])];
  const write = (value) => desk.write(["factors", name, "rows"], value, undefined, true);
  const now = rows.table !== undefined && rows.table !== null ? `table ${rows.table}` : `selection ${rows.selection}`;
  const games = Object.entries(forms.games).filter(([key]) => sources(key).length);
  return h(
    "div",
    { className: "plan-fields plan-wide" },
    labelled("rows-game", words.game, h("select", { id: "rows-game", disabled: desk.readOnly, onchange: (event) => write({ game: event.target.value, [sources(event.target.value)[0][0]]: sources(event.target.value)[0][1] }) }, games.map(([key, game]) => h("option", { value: key, selected: key === rows.game }, game.title)))),
    labelled(
      "rows-source",
      words.rows_from,
      h(
        "select",
        { id: "rows-source", disabled: desk.readOnly, onchange: (event) => write({ game: rows.game, [event.target.value.split(" ")[0]]: event.target.value.split(" ").slice(1).join(" "), ...(rows.seed ? { seed: rows.seed } : {}) }) },
        sources(rows.game).map(([kind, each]) => h("option", { value: `${kind} ${each}`, selected: now === `${kind} ${each}` }, `${words[kind]}: ${each}`)),
      ),
    ),
    rows.selection ? labelled("rows-seed", words.seed, h("input", { type: "text", inputMode: "numeric", id: "rows-seed", value: rows.seed ?? 1, disabled: desk.readOnly, oninput: (event) => desk.write(["factors", name, "rows", "seed"], Number(event.target.value) || 1) })) : null,
    h("p", { className: "plan-help plan-wide" }, fill(words.rows_number, { number: desk.levels(name).length })),
  );
}
