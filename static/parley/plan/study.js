// A study's page: the journey at the left, the chosen part in the middle, its cells at the right.
import { button, emptyOf, field, fields, fill, h, icon } from "./controls.js";
import { makeDesk } from "./desk.js";
import * as tree from "./tree.js";
import { factorPage } from "./varying.js";

const root = document.querySelector("[data-plan]");
const data = JSON.parse(document.getElementById("plan-data").textContent);
const { words, forms } = data;
const SYMBOLS = { consent: "handshake", page: "article", questions: "quiz", game: "casino", block: "view_agenda", debriefing: "waving_hand" };
const CELLS_SHOWN = 12;
const MOST_LISTED = 200; // cells that are edited one by one
const isStudy = data.kind !== "collection";
const SECTIONS = !isStudy ? [["study", "title"], ["agents", "smart_toy"], ["cells", "grid_view"], ["prices", "payments"]] : [
  ["study", "title"],
  ["agents", "smart_toy"],
  ["pay", "payments"],
  ["told", "visibility"],
  ["checks", "fact_check"],
  ["help", "support_agent"],
  ["entry", "login"],
  ["cells", "grid_view"],
  ["analysis", "monitoring"],
];
const PARTS_OF_STUDY = isStudy ? ["title", "shown_title", "language", "purpose", "minutes"] : ["title", "environment", "repetitions", "cycle", "seeds", "seed", "stages", "concurrency", "budget"];

const desk = makeDesk(root, data, { draw, drawAround, onCheck: showCells, placeOfFault });
desk.extra = () => (desk.slug !== undefined ? { slug: desk.slug } : isStudy ? {} : { slug: data.slug });
desk.placeOf = placeOf;
desk.changeGame = changeGame;
desk.addAgent = addAgent;
desk.ownText = ownText;
desk.upload = upload;
desk.onSaved = (saved) => {
  if (saved.url) return ((desk.unsaved = false), location.assign(saved.url));
  desk.say(saved.said);
  root.querySelector("[data-earlier]")?.remove();
  if (location.search) history.replaceState(null, "", location.pathname + location.hash); // no longer an earlier draft
  for (const [selector, html] of Object.entries(saved.parts ?? {})) {
    const part = document.querySelector(selector);
    if (part) part.outerHTML = html;
  }
};

// ---- where things are ----------------------------------------------------------------------------------

function placeOfFault(desk, { at }) {
  const parts = at.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  if (parts[0] === "journey") {
    const stage = desk.stagePath(parts);
    return stage && tree.get(desk.plan, stage) ? { section: "stage", key: stage } : { section: "study", key: "" };
  }
  if (parts[0] === "factors" && parts[1]) return { section: "factor", key: parts[1] };
  return { section: SECTIONS.some(([name]) => name === parts[0]) ? parts[0] : "study", key: "" };
}

// A path in words: "talk › Rounds".
function placeOf(path) {
  const resolved = tree.resolvedPath(desk.plan, path);
  const found = [];
  let group = { fields: Object.values(forms.sections) };
  let at = desk.plan;
  const levels = path.filter((_, i) => path[i - 1] === "values");
  resolved.forEach((key, i) => {
    at = tree.isVaried(at) ? Object.values(at.values ?? {})[0] : at;
    const inside = at?.[key];
    if (typeof key === "number" && ["journey", "of"].includes(resolved[i - 1])) {
      group = forms.stages[inside?.stage] ?? { fields: [] };
      found.push(inside?.name || group.label);
    } else if (key === "agents" && i === 0) {
      found.push(words.sections.agents);
      group = { item: forms.agent };
    } else if (key !== "journey" && key !== "of") {
      const named = group?.fields?.find((each) => each.name === key);
      found.push(typeof key === "number" ? String(key + 1) : key === "*" ? words.other_seats : named?.label ?? key);
      group = named?.kind === "config" ? forms.games[at.game]?.config : named ?? group?.item;
    } 
    at = inside;
  });
  return [...found, ...levels].join(" › ") || words.sections.study;
}

// ---- the journey at the left ---------------------------------------------------------------------------

function drawAround() {
  const nav = root.querySelector("[data-journey]");
  const active = nav.contains(document.activeElement) ? document.activeElement.id : "";
  const menu = nav.querySelector("details")?.open;
  nav.replaceChildren(
    h("h2", {}, words.journey),
    stageList(desk.plan.journey ?? [], ["journey"]),
    desk.readOnly || !isStudy ? "" : addMenu(words.add_stage, { open: menu }),
    h("h2", {}, words.factors),
    factorList(),
    h("h2", {}, words.settings),
    h("ul", {}, SECTIONS.map(([name, symbol]) => h("li", {}, entry(name, "", symbol, words.sections[name])))),
  );
  if (active) document.getElementById(active)?.focus();
  const list = root.querySelector("[data-faults]");
  list.replaceChildren(...faultList());
}

function entry(section, key, symbol, title, extra = []) {
  const here = desk.place.section === section && String(desk.place.key) === String(key);
  const prefixes = section === "stage" ? [key.join(".")] : section === "factor" ? [`factors.${key}`] : section === "study" ? PARTS_OF_STUDY : [section];
  const own = desk.faults().filter((fault) => {
    const place = placeOfFault(desk, fault);
    return place.section === section && String(place.key) === String(key);
  });
  const node = section === "stage" ? withoutStages(tree.get(desk.plan, key)) : section === "study" ? PARTS_OF_STUDY.map((name) => desk.plan[name]) : tree.get(desk.plan, prefixes[0].split("."));
  const factors = section === "factor" ? [] : tree.factorsIn(node);
  return h(
    "button",
    { type: "button", id: `nav-${section}-${Array.isArray(key) ? key.join("-") : key}`, className: "plan-entry-of-nav", "aria-current": here ? "page" : null, onclick: () => desk.open(section, key) },
    icon(symbol),
    h("span", { className: "plan-name" }, title, ...extra),
    factors.map((name) => h("span", { className: "plan-badge", title: fill(words.depends_on, { factor: name }) }, name)),
    own.length ? h("span", { className: "plan-count" }, String(own.length), h("span", { className: "sr-only" }, ` ${words.to_correct}`)) : null,
  );
}

const withoutStages = (stage) => (stage ? { ...stage, of: undefined } : stage);

function stageList(list, path) {
  return h("ol", {}, list.map((stage, index) => {
    const at = [...path, index];
    const kind = forms.stages[stage.stage];
    const detail = stage.stage === "game" ? forms.games[stage.game]?.title ?? stage.game : kind?.label ?? stage.stage;
    const more = stage.name && stage.name !== detail.toLowerCase() ? [h("small", {}, ` ${detail}`)] : [];
    return h("li", {}, entry("stage", at, SYMBOLS[stage.stage] ?? "extension", stage.name || detail, more), Array.isArray(stage.of) ? stageList(stage.of, [...at, "of"]) : null);
  }));
}

function addMenu(title, options) {
  const single = new Set(["consent", "debriefing"].filter((kind) => [...tree.stages(desk.plan.journey)].some(([, stage]) => stage.stage === kind)));
  const kinds = Object.entries(forms.stages).filter(([kind]) => !single.has(kind));
  return h(
    "details",
    { className: "plan-menu", ...options },
    h("summary", { className: "plan-button plan-small" }, icon("add"), h("span", {}, title)),
    h("div", {}, kinds.map(([kind, form]) => button(form.label, { symbol: SYMBOLS[kind] ?? "extension", className: "plan-option", title: form.about, onclick: () => addStage(kind) }))),
  );
}

function addStage(kind) {
  const form = forms.stages[kind];
  const needed = Object.fromEntries(form.fields.filter((each) => each.required && each.kind !== "fixed").map((each) => [each.name, each.kind === "game" ? desk.games()[0] ?? Object.keys(forms.games)[0] : emptyOf(each)]));
  const stage = { stage: kind, ...(form.named ? { name: tree.freeName(desk.plan, kind) } : {}), ...needed };
  if (kind === "block") stage.of = [];
  if (kind === "game") stage.seats = gameSeats(stage.game);
  const journey = (desk.plan.journey ??= []);
  const here = desk.place.section === "stage" ? desk.place.key : null;
  let at;
  if (kind === "consent") at = ["journey", 0];
  else if (kind === "debriefing") at = ["journey", journey.length];
  else if (here && tree.get(desk.plan, here)?.stage === "block" && kind !== "block") at = [...here, "of", tree.get(desk.plan, here).of?.length ?? 0];
  else if (here && tree.get(desk.plan, here)?.stage !== "debriefing") at = [...here.slice(0, -1), here.at(-1) + 1];
  else at = ["journey", journey.at(-1)?.stage === "debriefing" ? journey.length - 1 : journey.length];
  const list = tree.get(desk.plan, at.slice(0, -1)) ?? (tree.put(desk.plan, at.slice(0, -1), []), tree.get(desk.plan, at.slice(0, -1)));
  list.splice(at.at(-1), 0, stage);
  root.querySelector(".plan-menu").open = false;
  desk.changed();
  desk.open("stage", at);
}

// A participant in the first seat, the first agent in the others.
function gameSeats(key) {
  if (!isStudy) return { rule: "product" };
  const seats = forms.games[key]?.seats ?? [];
  const person = seats.find((seat) => seat.person) ?? seats[0];
  if (!person) return { "*": "person" };
  return seats.length > 1 ? { [person.role]: "person", "*": desk.agents()[0] ?? "person" } : { [person.role]: "person" };
}

function changeGame(path, key) {
  const stage = tree.get(desk.plan, path);
  Object.assign(stage, { game: key, config: {}, seats: gameSeats(key) });
  desk.changed();
  desk.refresh();
}

function factorList() {
  const names = Object.keys(desk.plan.factors ?? {});
  if (!names.length) return h("p", { className: "plan-help" }, words.no_factors);
  return h("ul", {}, names.map((name) => h("li", {}, entry("factor", name, "alt_route", name, [h("small", {}, ` ${shortLevels(name)}`)]))));
}

function shortLevels(name) {
  const levels = desk.levels(name);
  return levels.length > 4 ? fill(words.levels_number, { number: levels.length }) : levels.join(", ");
}

function faultList() {
  const faults = desk.faults();
  if (!faults.length) return [];
  const shown = faults.slice(0, 30).map((fault) =>
    h("li", {}, h("button", { type: "button", className: "plan-link", onclick: () => desk.jump(fault.at, fault.factors) }, fault.at ? placeOf(pathOf(fault.at)) : words.sections.study), `: ${desk.describe(fault)}`));
  return [h("details", { className: "plan-faults", open: root.dataset.faultsOpen === "true", ontoggle: (event) => (root.dataset.faultsOpen = String(event.target.open)) }, h("summary", {}, icon("error"), ` ${faults.length === 1 ? words.one_fault : fill(words.faults, { number: faults.length })}`), h("ul", {}, shown))];
}

const pathOf = (at) => at.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part));

// ---- the middle ----------------------------------------------------------------------------------------

function draw() {
  const { section, key } = desk.place;
  if (section === "stage") return tree.get(desk.plan, key) ? stagePage(key) : studyPage();
  if (section === "factor") return part(key, [factorPage(desk, key)], words.factor);
  if (section === "agents") return agentsPage();
  if (section === "cells") return cellsPage();
  if (section === "study") return studyPage();
  const control = forms.sections[section];
  const optional = section === "entry" ? { literal: true } : {};
  const note = data.notes?.[section];
  const more = note ? [h("p", { className: "plan-help plan-wide" }, note)] : [];
  const shown = control.fields ? fields(desk, control, [section], optional) : field(desk, control, [section], { literal: true });
  return part(words.sections[section], [h("div", { className: "plan-fields" }, shown, more)], "");
}

function part(title, children, kind, tools = null) {
  return h("div", { className: "plan-part" }, h("div", { className: "plan-top" }, h("div", {}, kind ? h("p", { className: "plan-kind" }, kind) : null, h("h2", {}, title)), tools), ...children);
}

function studyPage() {
  const slug = h("div", { className: "plan-field" }, h("label", { htmlFor: "plan-slug" }, words.short_name), h("input", {
    type: "text",
    id: "plan-slug",
    value: desk.slug ?? data.slug,
    disabled: desk.readOnly || !data.may_rename,
    spellcheck: false,
    maxLength: 50,
    oninput: (event) => ((desk.slug = event.target.value.trim()), (desk.slugChanged = desk.slug !== data.slug), desk.changed()),
  }), h("p", { className: "plan-help" }, data.may_rename ? words.short_name_help : words.short_name_fixed));
  const rest = PARTS_OF_STUDY.map((name) => field(desk, forms.sections[name], [name], { literal: name !== "minutes" }));
  const general = h("div", { className: "plan-field plan-wide", "data-at": "journey", "data-levels": "{}" }, h("p", { className: "plan-fault", hidden: true }));
  return part(words.sections.study, [h("div", { className: "plan-fields" }, rest[0], slug, ...rest.slice(1), general)], "");
}

function stagePage(path) {
  const stage = tree.get(desk.plan, path);
  const form = forms.stages[stage.stage];
  if (!form) return part(stage.stage, [h("p", { className: "plan-help" }, words.unknown_stage)], "");
  const title = stage.name || form.label;
  const list = tree.get(desk.plan, path.slice(0, -1));
  const isFixed = !isStudy || ["consent", "debriefing"].includes(stage.stage);
  const move = (by) => () => {
    const at = tree.moveStage(desk.plan, path, by);
    desk.changed();
    desk.open("stage", at, false);
    document.getElementById(by < 0 ? "stage-up" : "stage-down")?.focus();
  };
  const canUp = path.length > 2 || path.at(-1) > 0;
  const canDown = path.length > 2 || path.at(-1) < list.length - 1;
  const tools = desk.readOnly
    ? null
    : h(
        "div",
        { className: "plan-tools" },
        isFixed ? null : button("", { symbol: "arrow_upward", id: "stage-up", className: "plan-icon", disabled: !canUp, label: fill(words.move_up, { what: title }), onclick: move(-1) }),
        isFixed ? null : button("", { symbol: "arrow_downward", id: "stage-down", className: "plan-icon", disabled: !canDown, label: fill(words.move_down, { what: title }), onclick: move(1) }),
        isFixed ? null : button("", { symbol: "content_copy", className: "plan-icon", label: fill(words.copy, { what: title }), onclick: () => copyStage(path) }),
        !isStudy || stage.stage === "consent" ? null : button("", { symbol: "delete", className: "plan-icon", label: fill(words.remove, { what: title }), onclick: () => removeStage(path) }),
      );
  const lacking = (name) => forms.games[stage.game]?.lacks.includes(name) && !stage[name];
  const inside = form.fields.filter((each) => each.kind !== "fixed" && !["show_if", "of", "name"].includes(each.name) && !lacking(each.name));
  const shown = inside.map((each) => field(desk, each, [...path, each.name]));
  const named = form.named ? h("div", { className: "plan-field", "data-at": [...path, "name"].join("."), "data-levels": "{}" }, h("label", { htmlFor: "stage-name" }, words.name), h("input", { type: "text", id: "stage-name", value: stage.name ?? "", disabled: desk.readOnly, spellcheck: false, maxLength: 40, onchange: (event) => renameStage(path, event.target.value.trim()) }), h("p", { className: "plan-help" }, form.fields.find((each) => each.name === "name").help), h("p", { className: "plan-fault", hidden: true })) : null;
  const condition = !isStudy || stage.stage === "consent" || stage.stage === "debriefing" ? null : field(desk, form.fields.find((each) => each.name === "show_if"), [...path, "show_if"]);
  const blocks = stage.stage === "block" ? [stagesOfBlock(path)] : [];
  return part(title, [h("div", { className: "plan-fields plan-field", "data-at": path.join("."), "data-levels": "{}" }, h("p", { className: "plan-fault plan-wide", hidden: true }), named, blocks, shown, condition)], stage.name ? form.label : "", tools);
}

function stagesOfBlock(path) {
  const inside = tree.get(desk.plan, [...path, "of"]) ?? [];
  return h(
    "div",
    { className: "plan-wide plan-stack" },
    h("p", { className: "plan-help" }, words.block_help),
    h("h3", {}, words.in_block),
    inside.length
      ? h("ol", { className: "plan-links" }, inside.map((stage, index) => h("li", {}, h("button", { type: "button", className: "plan-link", onclick: () => desk.open("stage", [...path, "of", index]) }, stage.name || forms.stages[stage.stage]?.label || stage.stage))))
      : h("p", { className: "plan-help" }, words.empty_block),
    desk.readOnly ? null : addMenu(words.add_to_block),
  );
}

function renameStage(path, name) {
  const stage = tree.get(desk.plan, path);
  if (name === stage.name) return;
  const old = stage.name;
  if (!tree.isName(name) || tree.freeName(desk.plan, name) !== name) {
    desk.say(words.bad_name);
    return desk.refreshSoon();
  }
  stage.name = name;
  if (old) {
    tree.renameInTexts(desk.plan, old, name);
    for (const factor of Object.values(desk.plan.factors ?? {})) if (factor.within === old) factor.within = name;
  }
  desk.changed();
  desk.refreshSoon();
}

function copyStage(path) {
  const copy = tree.clone(tree.get(desk.plan, path));
  for (const [, stage] of tree.stages([copy])) {
    if (stage.name) stage.name = tree.freeName(desk.plan, stage.name.replace(/_\d+$/, ""));
    for (const item of Array.isArray(stage.items) ? stage.items : []) item.name = tree.freeName(desk.plan, item.name.replace(/_\d+$/, ""));
  }
  tree.get(desk.plan, path.slice(0, -1)).splice(path.at(-1) + 1, 0, copy);
  desk.changed();
  desk.open("stage", [...path.slice(0, -1), path.at(-1) + 1]);
}

function removeStage(path) {
  const list = tree.get(desk.plan, path.slice(0, -1));
  list.splice(path.at(-1), 1);
  desk.changed();
  desk.open(list.length ? "stage" : "study", list.length ? [...path.slice(0, -1), Math.max(0, path.at(-1) - 1)] : "");
}

// ---- agents --------------------------------------------------------------------------------------------

function scripts() {
  return [...new Set(desk.games().flatMap((game) => forms.games[game].scripts))];
}

function agentsPage() {
  const agents = Object.keys(desk.plan.agents ?? {});
  return part(
    words.sections.agents,
    [
      h("p", { className: "plan-help" }, words.agents_help),
      agents.map(agentCard),
      desk.readOnly ? null : button(words.add_agent, { symbol: "add", id: "add-agent", onclick: () => newAgent() }),
    ].flat(),
    "",
  );
}

function newAgent() {
  const available = scripts();
  const script = desk.games().map((game) => forms.games[game].default_script)[0] ?? available[0];
  const unused = [script, ...available].find((each) => !desk.agents().includes(each)) ?? script;
  let label = unused ?? "agent";
  for (let number = 2; desk.agents().includes(label); number++) label = `${unused} ${number}`;
  (desk.plan.agents ??= {})[label] = { script: unused };
  desk.changed();
  desk.refresh();
  document.getElementById(desk.id(["agents", label, "script"]))?.focus();
  return label;
}

function addAgent(path) {
  const label = newAgent();
  tree.put(desk.plan, path, label);
  desk.changed();
  desk.open("agents", "", false);
  document.getElementById(desk.id(["agents", label, "script"]))?.focus();
}

function agentCard(label) {
  const path = ["agents", label];
  const agent = desk.plan.agents[label];
  const rename = (event) => {
    const wish = event.target.value.trim();
    if (wish === label) return;
    if (!wish || wish in desk.plan.agents) return desk.say(words.taken_label), (event.target.value = label);
    tree.renameAgent(desk.plan, label, wish);
    desk.changed();
    desk.refreshSoon();
  };
  const remove = () => (delete desk.plan.agents[label], desk.changed(), desk.refresh());
  const nameId = `${desk.id(path)}-name`;
  const isModel = agent.endpoint !== undefined && agent.endpoint !== null;
  const isProgram = agent.program !== undefined && agent.program !== null;
  const isAsked = isModel || isProgram;
  const whole = tree.isVaried(agent);
  const played = new Set(["script", "program", "endpoint", "model", "delay", "fallback"]);
  const asksProgram = new Set(["information", "tries_after_first", "calls", "call_seconds", "limit_seconds", "script_counts", "appears"]);
  const how = forms.agent.fields.filter((each) => (isProgram ? asksProgram.has(each.name) : !played.has(each.name)));
  const set = how.filter((each) => each.name in agent).length;
  const details = h(
    "details",
    { className: "plan-details plan-wide", open: desk.isOpen([...path, "how"]), ontoggle: () => (desk.keepOpen([...path, "how"], details.open), details.open && details.childElementCount < 2 && details.append(asked())) },
    h("summary", {}, words.how_asked, set ? ` · ${fill(words.changed, { number: set })}` : ""),
  );
  const asked = () => h("div", { className: "plan-fields" }, how.map((each) => field(desk, each, [...path, each.name])));
  if (details.open) details.append(asked());
  const byName = (name) => forms.agent.fields.find((each) => each.name === name);
  return h(
    "section",
    { className: "plan-card plan-field", "data-at": path.join("."), "data-levels": "{}", "aria-label": label },
    h(
      "div",
      { className: "plan-fields" },
      h("div", { className: "plan-field" }, h("label", { htmlFor: nameId }, words.name), h("input", { type: "text", id: nameId, value: label, disabled: desk.readOnly, onchange: rename })),
      whole ? field(desk, { ...forms.agent, label }, path) : playedBy(path, agent),
      isModel ? modelField(path, agent, byName("model")) : null,
      whole || isAsked ? null : field(desk, byName("delay"), [...path, "delay"]),
      isAsked ? field(desk, byName("fallback"), [...path, "fallback"]) : null,
      isAsked ? details : null,
      h("p", { className: "plan-fault", hidden: true }),
    ),
    desk.readOnly ? null : button(fill(words.remove, { what: label }), { symbol: "delete", className: "plan-small", onclick: remove }),
  );
}

function playedBy(path, agent) {
  const at = [...path, "script"];
  const choices = scripts().map((name) => [name, name]);
  if (tree.isVaried(agent.script)) return field(desk, { kind: "choice", label: words.script, choices, help: "" }, at);
  const now = agent.endpoint ? `@${tree.isVaried(agent.endpoint) ? "" : agent.endpoint}` : agent.program ? `!${agent.program}` : agent.script ?? "";
  const option = (value, title) => h("option", { value, selected: value === now }, title);
  const known = choices.some(([name]) => name === now) || data.endpoints.some((each) => `@${each.name}` === now) || data.programs.some((name) => `!${name}` === now);
  const id = desk.id(at);
  return h(
    "div",
    { className: "plan-field", "data-at": at.join("."), "data-levels": "{}" },
    h("div", { className: "plan-head" }, h("label", { htmlFor: id }, words.played_by), desk.readOnly || agent.endpoint || agent.program ? null : h("button", { type: "button", className: "plan-button plan-vary", onclick: () => desk.vary({ kind: "choice", label: words.script, choices }, at) }, words.vary, h("span", { className: "sr-only" }, ` ${words.script}`))),
    h(
      "select",
      {
        id,
        disabled: desk.readOnly,
        onchange: (event) => {
          const chosen = event.target.value;
          const kept = Object.fromEntries(Object.entries(agent).filter(([key]) => !["script", "program", "endpoint", "model"].includes(key)));
          const endpoint = data.endpoints.find((each) => `@${each.name}` === chosen);
          desk.plan.agents[path[1]] = endpoint ? { endpoint: endpoint.name, model: endpoint.models[0] ?? "", ...kept } : chosen.startsWith("!") ? { program: chosen.slice(1), ...kept } : { script: chosen, ...("delay" in kept ? { delay: kept.delay } : {}) };
          desk.changed();
          desk.refresh();
        },
      },
      known || !now ? null : option(now, fill(words.unknown, { name: now.replace(/^[@!]/, "") })),
      h("optgroup", { label: words.scripts }, choices.map(([name, title]) => option(name, title))),
      data.programs.length ? h("optgroup", { label: words.programs }, data.programs.map((name) => option(`!${name}`, name))) : null,
      h("optgroup", { label: words.models }, data.endpoints.map((each) => option(`@${each.name}`, each.title))),
    ),
    h("p", { className: "plan-fault", hidden: true }),
  );
}

const listed = new Map();

function modelField(path, agent, control) {
  const shown = field(desk, { ...control, optional: false, required: true, help: words.model_help }, [...path, "model"]);
  const input = shown.querySelector("input");
  const known = data.endpoints.find((each) => each.name === agent.endpoint);
  if (input && known) {
    const list = h("datalist", { id: `${input.id}-models` });
    const offer = (models) => list.replaceChildren(...models.map((model) => h("option", { value: model })));
    offer(listed.get(known.name) ?? known.models);
    input.setAttribute("list", list.id);
    input.after(list);
    input.addEventListener("focus", async () => {
      if (listed.has(known.name)) return;
      listed.set(known.name, known.models);
      const response = await fetch(`${desk.urls.models}?endpoint=${encodeURIComponent(known.name)}`);
      if (response.ok) listed.set(known.name, (await response.json()).models), offer(listed.get(known.name));
    });
  }
  return shown;
}

// ---- cells and analysis --------------------------------------------------------------------------------

function cellsPage() {
  const form = Object.fromEntries(forms.sections.cells.fields.map((each) => [each.name, each]));
  const cells = desk.plan.cells ?? {};
  const between = Object.entries(desk.plan.factors ?? {}).filter(([, factor]) => !factor.within);
  const rows = between.filter(([, factor]) => factor.rows).map(([name]) => name);
  const number = between.reduce((product, [name]) => product * desk.levels(name).length, 1);
  const mode = cells.listed ? "listed" : cells.rows ? `rows ${cells.rows}` : "crossed";
  const change = (chosen) => {
    const { listed: _listed, rows: _rows, crossed: _crossed, ...kept } = cells;
    if (chosen === "listed") kept.listed = tree.crossed(between.map(([name]) => [name, desk.levels(name)]));
    if (chosen.startsWith("rows ")) kept.rows = chosen.slice(5);
    desk.write(["cells"], kept, undefined, true);
  };
  const literal = { literal: true };
  return part(words.sections.cells, [
    h(
      "div",
      { className: "plan-fields plan-field", "data-at": "cells", "data-levels": "{}" },
      h("p", { className: "plan-fault plan-wide", hidden: true }),
      h("div", { className: "plan-field" }, h("label", { htmlFor: "cells-mode" }, words.which_cells), h("select", { id: "cells-mode", disabled: desk.readOnly, onchange: (event) => change(event.target.value) }, h("option", { value: "crossed", selected: mode === "crossed" }, words.crossed), h("option", { value: "listed", selected: mode === "listed", disabled: mode !== "listed" && number > MOST_LISTED }, words.listed), rows.map((name) => h("option", { value: `rows ${name}`, selected: mode === `rows ${name}` }, fill(words.as_rows, { factor: name }))))),
      ...["quota", "rule"].map((name) => form[name] && field(desk, form[name], ["cells", name], literal)),
      form.unit ? field(desk, form.unit, ["cells", "unit"], literal) : null,
      form.strata ? field(desk, form.strata, ["cells", "strata"], literal) : null,
      cells.listed ? listedTable(between) : null,
    ),
  ], "");
}

function listedTable(between) {
  const cells = desk.plan.cells.listed;
  const write = (list) => desk.write(["cells", "listed"], list, undefined, true);
  const number = (cell, index, key, usual) => h("td", {}, h("input", { type: "text", inputMode: "numeric", value: cell[key] ?? "", placeholder: usual, "aria-label": fill(words.of_cell, { what: words[key], number: index + 1 }), disabled: desk.readOnly, oninput: (event) => desk.write(["cells", "listed", index, key], event.target.value.trim() === "" ? undefined : Number(event.target.value)) }));
  return h(
    "div",
    { className: "plan-wide plan-stack" },
    h("div", { className: "plan-scroll", tabIndex: 0, role: "region", "aria-label": words.listed }, h("table", { className: "plan-grid" },
      h("thead", {}, h("tr", {}, h("th", {}, "#"), between.map(([name]) => h("th", { scope: "col" }, name)), isStudy ? [h("th", { scope: "col" }, words.quota), h("th", { scope: "col" }, words.weight)] : null, h("td", {}))),
      h("tbody", {}, cells.slice(0, MOST_LISTED).map((cell, index) => h("tr", {}, h("th", { scope: "row" }, String(index + 1)), between.map(([name, factor]) => h("td", {}, h("select", { "aria-label": fill(words.of_cell, { what: name, number: index + 1 }), disabled: desk.readOnly, onchange: (event) => desk.write(["cells", "listed", index, name], (Array.isArray(factor.levels) ? factor.levels : []).find((each) => tree.levelKey(each) === event.target.value) ?? event.target.value) }, cell[name] === undefined ? h("option", { value: "" }, "–") : null, desk.levels(name).map((level) => h("option", { value: level, selected: tree.levelKey(cell[name] ?? "") === level }, level))))), isStudy ? [number(cell, index, "quota", String(desk.plan.cells.quota ?? 20)), number(cell, index, "weight", "1")] : null, h("td", {}, desk.readOnly ? null : button("", { symbol: "close", className: "plan-icon", label: fill(words.remove, { what: `${words.cell} ${index + 1}` }), onclick: () => write(cells.filter((_, each) => each !== index)) }))))))),
    cells.length > MOST_LISTED ? h("p", { className: "plan-help" }, fill(words.more_cells, { number: cells.length - MOST_LISTED })) : null,
    desk.readOnly ? null : button(fill(words.add, { what: words.cell.toLowerCase() }), { symbol: "add", className: "plan-small", onclick: () => write([...cells, { ...(cells.at(-1) ?? {}) }]) }),
  );
}

// ---- texts and files -----------------------------------------------------------------------------------

async function ownText(path) {
  const response = await desk.post(desk.urls.text, { at: path.join(".") });
  const text = response.ok ? (await response.json()).text : "";
  desk.write(path, text, undefined, true);
  desk.focus(path);
}

// The answer to an uploaded file; {} if there was none, as when a proxy stops what is too large.
async function sendFile(url, fields) {
  desk.say(words.uploading);
  try {
    return await (await desk.post(url, fields)).json();
  } catch {
    return {};
  } finally {
    desk.showUnsaved();
  }
}

async function upload(path, file, kind, refuse) {
  if (!file) return;
  refuse("");
  const answer = await sendFile(desk.urls.media, { file, kind });
  if (!answer.name) return refuse(answer.error ?? words.not_uploaded);
  desk.media[answer.name] = answer.url;
  desk.write(path, answer.name, undefined, true);
}

root.querySelector("[data-upload]")?.addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  const answer = await sendFile(desk.urls.read, { file });
  event.target.value = "";
  if (!answer.document) return refusedFile(answer.faults ?? [{ at: "", factors: {}, what: words.not_uploaded }]);
  desk.media = answer.media ?? {};
  desk.replace(answer.document);
  desk.say(words.file_read);
});

function refusedFile(faults) {
  const dialog = h("dialog", { className: "plan-dialog plan-broad", "aria-labelledby": "file-title" }, h("h2", { id: "file-title" }, words.file_refused), h("ul", { className: "plan-links" }, faults.map((fault) => h("li", {}, fault.at ? h("strong", {}, `${fault.at}: `) : null, desk.describe(fault)))), h("div", { className: "plan-row plan-end" }, button(words.close, { className: "plan-main", onclick: () => dialog.close() })));
  dialog.addEventListener("close", () => dialog.remove());
  root.append(dialog);
  dialog.showModal();
}

// ---- cells at the right --------------------------------------------------------------------------------

function showCells() {
  const panel = root.querySelector("[data-cells]");
  const { cells = [], more = 0, totals = [], changes = [], new_version: isNew } = desk.answer;
  panel.replaceChildren(
    h("h2", {}, words.cells),
    cells.length
      ? h("div", { className: "plan-scroll", tabIndex: 0, role: "region", "aria-label": words.cells }, h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, words.cell), h("th", { scope: "col", className: "number" }, words.quota), isStudy ? [h("th", { scope: "col", className: "number" }, words.minutes), h("th", { scope: "col", className: "number" }, words.pay)] : null)), h("tbody", {}, cells.slice(0, CELLS_SHOWN).map((cell) => h("tr", {}, h("th", { scope: "row" }, cell.title || words.only_cell), h("td", { className: "number" }, String(cell.quota)), isStudy ? [h("td", { className: "number" }, cell.minutes ?? "…"), h("td", { className: "number" }, cell.pay ?? "…", cell.hourly ? h("small", {}, ` ${cell.hourly}`) : null)] : null)))))
      : "",
    cells[0]?.pay || (cells.length && !isStudy) ? "" : h("p", { className: "plan-help" }, desk.faults().length ? words.cells_after_faults : "…"),
    ...(more + Math.max(0, cells.length - CELLS_SHOWN) > 0 ? [h("p", { className: "plan-help" }, fill(words.more_cells, { number: more + Math.max(0, cells.length - CELLS_SHOWN) }))] : []),
    h("dl", { className: "plan-totals" }, totals.map(([name, value, note]) => h("div", {}, h("dt", {}, name), h("dd", {}, value, note ? h("small", {}, note) : null)))),
    ...(changes.length ? [h("details", { className: "plan-details" }, h("summary", {}, isNew ? words.new_version : words.same_version), h("ul", {}, changes.map((change) => h("li", {}, change))))] : []),
  );
}

// ---- the rest of the page ------------------------------------------------------------------------------

// Buttons that act on the saved study save it first, and ask where that matters.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (form.dataset.saves !== undefined && desk.unsaved) {
    event.preventDefault();
    await desk.save();
    if (desk.unsaved) return desk.say(words.save_first);
    return (document.querySelector(`form[action="${form.getAttribute("action")}"]`) ?? form).requestSubmit();
  }
  if (form.dataset.confirm && !confirm(form.dataset.confirm)) event.preventDefault();
});

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("button[name=copy]");
  if (!copy) return;
  const link = document.getElementById("join-link");
  link.select();
  try {
    await navigator.clipboard.writeText(link.value);
  } catch {
    document.execCommand("copy");
  }
  copy.lastChild.textContent = words.copied;
});

// ---- begin ---------------------------------------------------------------------------------------------

// The address names the part that is shown, so that links lead to it.
function openAddressed(focus) {
  const [section, ...rest] = location.hash.slice(1).split("/");
  const key = section === "stage" ? pathOf(rest.join("/")) : rest.join("/");
  if (section === "at") return desk.jump(key);
  const known = section === "stage" ? tree.get(desk.plan, key)?.stage : section === "factor" ? desk.plan.factors?.[key] : SECTIONS.some(([name]) => name === section);
  if (known) desk.open(section, key, focus);
}
addEventListener("hashchange", () => openAddressed(true));
const first = [...tree.stages(desk.plan.journey)].find(([, stage]) => stage.stage === "game");
if (first) desk.place = { section: "stage", key: first[0] };
desk.refresh(); // other addresses belong to other parts of the page, and stay as they are
openAddressed(false);
showCells();
desk.check();
