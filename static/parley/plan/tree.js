// A plan as plain data: reading, writing, and what depends on factors. Nothing here knows the page.

export const clone = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
export const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const isVaried = (node) =>
  isObject(node) && "by" in node && Object.keys(node).every((key) => key === "by" || key === "values");
export const isName = (text) => /^[a-z][a-z0-9_]{0,39}$/.test(text);
export const levelKey = (level) => (typeof level === "string" ? level : JSON.stringify(level));
export const factorOf = (node) => String(node.by).split(".")[0];

// Equal as data: the order of keys does not matter.
export function same(one, other) {
  if (one === other) return true;
  if (Array.isArray(one) || Array.isArray(other))
    return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((each, i) => same(each, other[i]));
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  return keys.length === Object.keys(other).length && keys.every((key) => key in other && same(one[key], other[key]));
}

export const get = (node, path) => path.reduce((at, key) => (at === null || at === undefined ? undefined : at[key]), node);

// Write a value; undefined removes it. Missing parents are made, and parents that become empty stay.
export function put(node, path, value) {
  const [last, ...rest] = [path.at(-1), ...path.slice(0, -1)];
  let at = node;
  rest.forEach((key, depth) => {
    if (at[key] === undefined || at[key] === null) at[key] = typeof path[depth + 1] === "number" ? [] : {};
    at = at[key];
  });
  if (value !== undefined) at[last] = value;
  else if (Array.isArray(at)) at.splice(last, 1);
  else delete at[last];
}

export function* walk(node, path = []) {
  yield [path, node];
  if (node === null || typeof node !== "object") return;
  for (const key of Object.keys(node)) yield* walk(node[key], [...path, Array.isArray(node) ? Number(key) : key]);
}

// The path of a node in the plan of one cell: without the branches of factors.
export function resolvedPath(plan, path) {
  const found = [];
  let at = plan;
  for (let i = 0; i < path.length; i++) {
    if (isVaried(at) && path[i] === "values") {
      at = at.values?.[path[++i]];
      continue;
    }
    found.push(path[i]);
    at = at?.[path[i]];
  }
  return found;
}

// ---- factors -------------------------------------------------------------------------------------------

export const levelsOf = (factor) =>
  Array.isArray(factor?.levels) ? factor.levels.map(levelKey) : Object.keys(factor?.levels ?? {});

// Every combination of the levels of factors, given as [name, levels].
export const crossed = (factors) =>
  factors.reduce((cells, [name, levels]) => cells.flatMap((cell) => levels.map((level) => ({ ...cell, [name]: level }))), [{}]);

// The nodes that depend on a factor, with their paths, the inner ones last.
export const usesOf = (plan, name) =>
  [...walk(plan)].filter(([path, node]) => path[0] !== "factors" && isVaried(node) && factorOf(node) === name);

export const factorsIn = (node) => [...new Set([...walk(node)].filter(([, each]) => isVaried(each)).map(([, each]) => factorOf(each)))];

const ordered = (object, change) => Object.fromEntries(Object.entries(object).map(change).filter(Boolean));

// Replace the contents of an object and keep the object itself, which others hold.
function replace(object, entries) {
  for (const key of Object.keys(object)) delete object[key];
  Object.assign(object, entries);
}

export function renameFactor(plan, old, name) {
  for (const [, node] of usesOf(plan, old)) node.by = [name, ...String(node.by).split(".").slice(1)].join(".");
  replace(plan.factors, ordered(plan.factors, ([key, value]) => [key === old ? name : key, value]));
  for (const cell of plan.cells?.listed ?? []) replace(cell, ordered(cell, ([key, value]) => [key === old ? name : key, value]));
  if (plan.cells?.rows === old) plan.cells.rows = name;
  for (const contrast of contrasts(plan)) {
    if (contrast.factor === old) contrast.factor = name;
    if (contrast.factors) contrast.factors = contrast.factors.map((each) => (each === old ? name : each));
  }
  renameInTexts(plan, old, name);
}

// What hypotheses compare.
const contrasts = (plan) => (plan.analysis?.hypotheses ?? []).map((each) => each.contrast).filter(isObject);

// Change conditions, and what stands within {{ … }} and {% … %} of texts.
function changeExpressions(plan, change) {
  for (const [path, node] of [...walk(plan)]) {
    if (typeof node !== "string") continue;
    const isCondition = ["show_if", "ends_if", "valid_if"].includes(path.at(-1));
    const changed = isCondition ? change(node) : node.replace(/\{[{%].*?[%}]\}/gs, change);
    if (changed !== node) put(plan, path, changed);
  }
}

export function renameInTexts(plan, old, name) {
  const word = new RegExp(`(?<![\\w.'"])${old}(?![\\w'"])`, "g");
  changeExpressions(plan, (part) => part.replace(word, name));
}

// The name of a question changes where conditions, texts, the strata and hypotheses say it.
export function renameQuestion(plan, old, name) {
  renameInTexts(plan, old, name);
  const reference = new RegExp(`(?<=\\w\\.)${old}(?!\\w)`, "g");
  for (const each of plan.analysis?.hypotheses ?? [])
    for (const [path, node] of [...walk(each)])
      if (typeof node === "string" && ["outcome", "adjust", "exclude"].includes(path[0])) put(each, path, node.replace(reference, name));
  if (plan.cells?.strata) plan.cells.strata = plan.cells.strata.map((each) => (each === old ? name : each));
}

// What a factor is compared with: wording == 'take', 'take' != wording, wording in ['take', …]; and the pass of a level.
function renameLevelInTexts(plan, factor, old, name) {
  const escaped = old.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const value = `(?<quote>['"])${escaped}\\k<quote>`;
  const written = (found, quote) => found.replace(`${quote}${old}${quote}`, `${quote}${name}${quote}`);
  const compared = [`(?<![\\w.])${factor}\\s*[!=]=\\s*${value}`, `${value}\\s*[!=]=\\s*${factor}(?![\\w.])`].map((text) => new RegExp(text, "g"));
  const listed = new RegExp(`(?<![\\w.])${factor}\\s+(?:not\\s+)?in\\s*[\\[(][^\\])]*`, "g");
  const pass = new RegExp(`(?<=\\w\\.)${escaped}(?=\\.)`, "g");
  changeExpressions(plan, (part) => {
    for (const pattern of compared) part = part.replace(pattern, (found, ...groups) => written(found, groups.at(-1).quote));
    part = part.replace(listed, (found) => found.replace(new RegExp(value, "g"), (each, quote) => `${quote}${name}${quote}`));
    return plan.factors[factor].within ? part.replace(pass, name) : part;
  });
}

// What depended on the factor keeps the value of its first level.
export function removeFactor(plan, name) {
  for (let uses = usesOf(plan, name); uses.length; uses = usesOf(plan, name)) {
    const [path, node] = uses.at(-1);
    const first = plan.factors?.[name]?.levels;
    const level = Array.isArray(first) ? first[0] : Object.values(first ?? {})[0];
    const value = node.values ? Object.values(node.values)[0] : get(level, String(node.by).split(".").slice(1));
    put(plan, path, value === undefined && path.at(-2) === "values" ? null : clone(value));
  }
  delete plan.factors?.[name];
  for (const cell of plan.cells?.listed ?? []) delete cell[name];
  if (plan.cells?.rows === name) delete plan.cells.rows;
}

// A factor that nothing depends on any more goes, as it would be refused.
export function dropUnused(plan) {
  for (const name of Object.keys(plan.factors ?? {}))
    if (!usesOf(plan, name).length && plan.cells?.rows !== name) removeFactor(plan, name);
}

export function addLevel(plan, name, level) {
  const factor = plan.factors[name];
  if (Array.isArray(factor.levels)) factor.levels.push(level);
  else factor.levels[levelKey(level)] = clone(Object.values(factor.levels).at(-1) ?? {});
  for (const [, node] of usesOf(plan, name))
    if (node.values && node.by === name) node.values[levelKey(level)] = clone(Object.values(node.values).at(-1) ?? null);
}

export function renameLevel(plan, name, old, level) {
  const factor = plan.factors[name];
  if (Array.isArray(factor.levels)) factor.levels = factor.levels.map((each) => (levelKey(each) === old ? level : each));
  else replace(factor.levels, ordered(factor.levels, ([key, value]) => [key === old ? levelKey(level) : key, value]));
  for (const [, node] of usesOf(plan, name))
    if (node.values && node.by === name) replace(node.values, ordered(node.values, ([key, value]) => [key === old ? levelKey(level) : key, value]));
  for (const cell of plan.cells?.listed ?? []) if (levelKey(cell[name] ?? "") === old) cell[name] = level;
  const renamed = (levels) => levels?.map((each) => (levelKey(each) === old ? levelKey(level) : each));
  for (const contrast of contrasts(plan)) {
    if (contrast.factor === name) contrast.levels = renamed(contrast.levels);
    if (contrast.factors) contrast.levels = contrast.levels?.map((pair, index) => (contrast.factors[index] === name ? renamed(pair) : pair));
  }
  renameLevelInTexts(plan, name, old, levelKey(level));
}

export function removeLevel(plan, name, old) {
  const factor = plan.factors[name];
  if (Array.isArray(factor.levels)) factor.levels = factor.levels.filter((each) => levelKey(each) !== old);
  else delete factor.levels[old];
  for (const [, node] of usesOf(plan, name)) if (node.values && node.by === name) delete node.values[old];
  if (plan.cells?.listed) plan.cells.listed = plan.cells.listed.filter((cell) => levelKey(cell[name] ?? "") !== old);
}

// ---- the journey ---------------------------------------------------------------------------------------

// Every stage with its path, those of a block after the block.
export function* stages(list, path = ["journey"]) {
  for (const [index, stage] of (list ?? []).entries()) {
    yield [[...path, index], stage];
    if (Array.isArray(stage.of)) yield* stages(stage.of, [...path, index, "of"]);
  }
}

export function namesIn(plan) {
  const names = new Set(Object.keys(plan.factors ?? {}));
  for (const [, stage] of stages(plan.journey)) {
    if (stage.name) names.add(stage.name);
    for (const item of Array.isArray(stage.items) ? stage.items : []) if (item.name) names.add(item.name);
  }
  return names;
}

export function freeName(plan, wish, others = []) {
  const names = new Set([...namesIn(plan), ...others, "by", "values", "default", "person", "role", "quota", "weight", "recruiter"]);
  const base = wish.toLowerCase().replace(/[^a-z0-9_]+/g, "_").replace(/^[^a-z]+/, "").slice(0, 34) || "factor";
  if (!names.has(base)) return base;
  let number = 2;
  while (names.has(`${base}_${number}`)) number++;
  return `${base}_${number}`;
}

// Move a stage one place up or down, into and out of blocks; return its new path.
export function moveStage(plan, path, by) {
  const index = path.at(-1);
  const list = get(plan, path.slice(0, -1));
  const neighbour = list[index + by];
  const [stage] = list.splice(index, 1);
  if (neighbour?.stage === "block" && stage.stage !== "block") {
    const inside = (neighbour.of ??= []);
    const at = by < 0 ? inside.length : 0;
    inside.splice(at, 0, stage);
    return [...path.slice(0, -1), list.indexOf(neighbour), "of", at];
  }
  if (neighbour) {
    list.splice(index + by, 0, stage);
    return [...path.slice(0, -1), index + by];
  }
  const outer = path.slice(0, -2); // of the block
  if (outer.length < 2) return list.splice(index, 0, stage), path;
  const at = outer.at(-1) + (by > 0 ? 1 : 0);
  get(plan, outer.slice(0, -1)).splice(at, 0, stage);
  return [...outer.slice(0, -1), at];
}

// The name of an agent changes wherever it is called: seats, fallbacks, stand-ins, levels that are agents.
export function renameAgent(plan, old, label) {
  replace(plan.agents, ordered(plan.agents, ([key, value]) => [key === old ? label : key, value]));
  const seats = [...stages(plan.journey)].map(([path]) => path).filter((path) => get(plan, path).stage === "game");
  const change = (node, path) => {
    for (const [at, value] of [...walk(node, path)])
      if (value === old && at.at(-1) !== "by") put(plan, at, label);
  };
  for (const path of seats) for (const key of ["seats"]) change(get(plan, [...path, key]), [...path, key]);
  for (const [path, value] of [...walk(plan)])
    if (value === old && (["stand_in", "fill", "fallback"].includes(path.at(-1)) || path.includes("fallback"))) put(plan, path, label);
  for (const [name, factor] of Object.entries(plan.factors ?? {}))
    if (levelsOf(factor).includes(old) && usesOf(plan, name).some(([path, node]) => !node.values && path.includes("seats")))
      renameLevel(plan, name, old, label);
}

// ---- two people at once --------------------------------------------------------------------------------

const MISSING = undefined;

// Merge two plans that began from the same one. Where both changed a value, `mine` stays and the path is listed.
export function merge(base, mine, theirs, path = []) {
  if (same(mine, theirs) || same(theirs, base)) return { value: clone(mine), conflicts: [], taken: [] };
  if (same(mine, base)) return { value: clone(theirs), conflicts: [], taken: [{ path, mine, theirs }] };
  const all = [base, mine, theirs];
  if (all.every(isObject) && !all.some(isVaried)) {
    const keys = [...new Set([...Object.keys(theirs), ...Object.keys(mine)])];
    return mergeParts(keys, path, (key) => all.map((each) => each[key]), {});
  }
  const identity = (list) => list.map((each) => (isObject(each) ? `${each.stage ?? ""} ${each.name ?? ""}` : "")).join("\n");
  if (all.every(Array.isArray) && all.every((list) => list.every(isObject)) && new Set(all.map(identity)).size === 1)
    return mergeParts([...base.keys()], path, (key) => all.map((each) => each[key]), []);
  return { value: clone(mine), conflicts: [{ path, mine, theirs }], taken: [] };
}

function mergeParts(keys, path, of, value) {
  const [conflicts, taken] = [[], []];
  for (const key of keys) {
    const part = merge(...of(key), [...path, key]);
    conflicts.push(...part.conflicts);
    taken.push(...part.taken);
    if (part.value !== MISSING) value[key] = part.value;
  }
  return { value, conflicts, taken };
}
