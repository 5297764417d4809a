// The desk: a plan in memory with what its controls share: writing, redrawing, faults, checking and saving.
import { button, fill, h } from "./controls.js";
import * as tree from "./tree.js";
import { ask } from "./varying.js";

const CHECK_AFTER = 500; // milliseconds without typing

// `draw` draws the middle of the page for a place (section, key); `onCheck` shows the answer of a check.
export function makeDesk(root, data, { draw, drawAround, onCheck, placeOfFault }) {
  const ids = new Map();
  const opened = new Set();
  const desk = {
    root,
    plan: data.plan,
    forms: data.forms,
    words: data.words,
    urls: data.urls,
    media: data.media ?? {},
    readOnly: data.readOnly,
    edit: data.edit,
    base: tree.clone(data.plan),
    unsaved: Boolean(data.unsaved),
    fixed: new Set(["stage", "name", "game", "kind"]),
    answer: data.answer ?? {},
    place: { section: "study", key: "" },
  };
  // Signing in again in another tab gives a new one.
  const csrf = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? root.querySelector("[name=csrfmiddlewaretoken]")?.value ?? "";
  const middle = root.querySelector("[data-middle]");
  const status = root.querySelector("[data-status]");

  // ---- reading and writing -----------------------------------------------------------------------------

  desk.id = (path) => {
    const key = JSON.stringify(path);
    if (!ids.has(key)) ids.set(key, `plan-${ids.size}`);
    return ids.get(key);
  };
  desk.mayVary = (path) => !data.forms.literal.includes(path[0]);
  desk.agents = () => Object.keys(desk.plan.agents ?? {});
  desk.questions = () => [...tree.stages(desk.plan.journey)].flatMap(([, stage]) => (Array.isArray(stage.items) ? stage.items : [])).map((item) => item.name).filter(Boolean);
  desk.outcomes = () => [...tree.stages(desk.plan.journey)].map(([, stage]) => [stage.name, data.forms.games[stage.game]?.outcomes ?? (Array.isArray(stage.items) ? stage.items : []).filter(({ kind }) => ["number", "slider", "scale", "single"].includes(kind)).map(({ name }) => name)]).filter(([stage, names]) => stage && names.length);
  desk.currency = () => (typeof desk.plan.pay?.currency === "string" ? desk.plan.pay.currency : "USD");
  desk.games = () => [...new Set([...tree.stages(desk.plan.journey)].map(([, stage]) => stage.game).filter((game) => game in data.forms.games))];
  desk.strategies = () => {
    const all = new Map(desk.games().flatMap((game) => data.forms.games[game].strategies));
    return all.size ? [...all] : [["plain", "plain"]];
  };
  desk.levels = (name) => desk.answer.levels?.[name] ?? tree.levelsOf(desk.plan.factors?.[name]);
  desk.stagePath = (path) => {
    let found = null;
    path.forEach((_, depth) => typeof path[depth] === "number" && ["journey", "of"].includes(path[depth - 1]) && (found = path.slice(0, depth + 1)));
    return found;
  };
  desk.seats = (path) => {
    const stage = desk.stagePath(path);
    const known = stage && desk.answer.seats?.[stage.join(".")];
    return known ?? data.forms.games[tree.get(desk.plan, [...(stage ?? []), "game"])]?.seats ?? [];
  };

  // Write a value. What equals its default is left out, except where a level needs it.
  desk.write = (path, value, control, redraw = false) => {
    if (desk.readOnly) return;
    const isDefault = control && "default" in control && control.default !== undefined && !control.required && tree.same(value, control.default);
    const stays = path.at(-2) === "values" || typeof path.at(-1) === "number" || (control?.kind === "game");
    if (value === undefined && path.at(-2) === "values") value = null;
    tree.put(desk.plan, path, isDefault && !stays ? undefined : value);
    desk.tidySeats(path);
    desk.changed();
    if (redraw) desk.refresh();
  };

  // Once every seat is named, nothing is left for "all others".
  desk.tidySeats = (path) => {
    const seats = path.includes("seats") ? tree.get(desk.plan, path.slice(0, -1)) : null;
    if (seats && "*" in seats && path.at(-1) !== "*" && desk.seats(path).length && desk.seats(path).every(({ role }) => role in seats)) delete seats["*"];
  };

  desk.changed = () => {
    desk.unsaved = !tree.same(desk.plan, desk.base) || desk.slugChanged;
    showUnsaved();
    drawAround(desk);
    scheduleCheck();
  };

  function showUnsaved() {
    root.classList.toggle("plan-unsaved", desk.unsaved);
    const save = root.querySelector("[data-save]");
    if (save) save.disabled = !desk.unsaved;
    status.textContent = desk.unsaved ? desk.words.unsaved : desk.words.saved;
  }

  desk.showUnsaved = showUnsaved;
  desk.say = (words) => (status.textContent = words);

  // ---- drawing -----------------------------------------------------------------------------------------

  // After a change that ends with leaving a field: the next field has the focus by then, and keeps it.
  desk.refreshSoon = () => setTimeout(desk.refresh);

  desk.refresh = () => {
    const { id, selectionStart } = document.activeElement ?? {};
    const [x, y] = [scrollX, scrollY];
    middle.replaceChildren(draw(desk));
    drawAround(desk);
    desk.showFaults();
    const again = id && document.getElementById(id);
    if (again && middle.contains(again)) {
      again.focus({ preventScroll: true });
      if (selectionStart !== undefined && selectionStart !== null && again.setSelectionRange && /text|textarea/.test(again.type)) again.setSelectionRange(selectionStart, selectionStart);
    }
    scrollTo(x, y);
  };

  desk.focus = (path) => {
    const id = desk.id(path);
    const found = document.getElementById(id) ?? document.getElementById(`${id}-group`) ?? document.getElementById(`${id}-card`);
    const first = found?.matches("input, select, textarea") ? found : found?.querySelector("input:not([disabled]), select, textarea") ?? found;
    first?.scrollIntoView({ block: "center", behavior: "instant" });
    first?.focus({ preventScroll: true });
    if (first?.matches("input[type=text], textarea") && first.value.length < 60) first.select();
  };

  desk.open = (section, key = "", focus = true) => {
    desk.place = { section, key };
    history.replaceState(null, "", `#${[section, ...(key === "" ? [] : [Array.isArray(key) ? key.join(".") : key])].join("/")}`);
    middle.replaceChildren(draw(desk));
    drawAround(desk);
    desk.showFaults();
    if (!focus) return;
    const heading = middle.querySelector("h2");
    if (heading) (heading.tabIndex = -1), heading.focus({ preventScroll: true });
    if (middle.getBoundingClientRect().top < 0 || middle.getBoundingClientRect().top > innerHeight * 0.6) middle.scrollIntoView({ block: "start" });
  };

  desk.isOpen = (path) => opened.has(tree.resolvedPath(desk.plan, path).join("."));
  desk.keepOpen = (path, open) => opened[open ? "add" : "delete"](tree.resolvedPath(desk.plan, path).join("."));

  // ---- varying -----------------------------------------------------------------------------------------

  desk.vary = (control, path) => ask(desk, control, path);
  desk.stopVarying = (path) => {
    const node = tree.get(desk.plan, path);
    const name = tree.factorOf(node);
    const first = node.values ? Object.values(node.values)[0] : desk.levels(name).map((level) => (Array.isArray(desk.plan.factors[name]?.levels) ? desk.plan.factors[name].levels.find((each) => tree.levelKey(each) === level) : null))[0];
    tree.put(desk.plan, path, tree.clone(first ?? undefined));
    if (!tree.usesOf(desk.plan, name).length) tree.removeFactor(desk.plan, name);
    desk.changed();
    desk.refresh();
    document.getElementById(`${desk.id(path)}-vary`)?.focus();
  };

  // ---- requests ----------------------------------------------------------------------------------------

  desk.post = async (url, fields = {}, signal) => {
    const body = new FormData();
    body.append("document", new Blob([JSON.stringify(desk.plan)], { type: "application/json" }), "document.json");
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return fetch(url, { method: "POST", body, headers: { "X-CSRFToken": csrf() }, signal });
  };

  // The server redirects whoever is signed out to the sign-in page, or answers 403 if the forms' cookie is gone too.
  const isSignedOut = (response) => response.redirected || response.status === 403;

  let timer, running;
  function scheduleCheck() {
    clearTimeout(timer);
    timer = setTimeout(desk.check, CHECK_AFTER);
    root.classList.add("plan-checking");
  }

  desk.check = async () => {
    running?.abort();
    running = new AbortController();
    try {
      const response = await desk.post(desk.urls.check, {}, running.signal);
      if (isSignedOut(response)) return desk.say(desk.words.signed_out);
      if (!response.ok) throw new Error(String(response.status));
      const before = JSON.stringify(desk.answer.seats);
      desk.answer = await response.json();
      root.classList.remove("plan-checking");
      onCheck(desk);
      if (JSON.stringify(desk.answer.seats) !== before && desk.place.section === "stage") desk.refresh();
      else desk.showFaults();
      drawAround(desk);
    } catch (error) {
      if (error.name !== "AbortError") desk.say(desk.words.no_check);
    }
  };

  // ---- faults ------------------------------------------------------------------------------------------

  desk.faults = () => desk.answer.faults ?? [];
  desk.faultsUnder = (prefix) => desk.faults().filter((fault) => fault.at === prefix || fault.at.startsWith(`${prefix}.`));

  const agree = (levels, factors) => Object.entries(levels).every(([name, level]) => !(name in factors) || factors[name] === level);

  function fieldOf(fault) {
    const parts = fault.at.split(".");
    for (let length = parts.length; length > 0; length--) {
      const at = parts.slice(0, length).join(".");
      const fields = [...middle.querySelectorAll("[data-at]")].filter((each) => each.dataset.at === at && agree(JSON.parse(each.dataset.levels), fault.factors));
      const best = fields.sort((one, other) => Object.keys(JSON.parse(other.dataset.levels)).length - Object.keys(JSON.parse(one.dataset.levels)).length)[0];
      if (best) return best;
    }
    return null;
  }

  desk.showFaults = () => {
    for (const shown of middle.querySelectorAll(".plan-fault")) (shown.hidden = true), (shown.textContent = "");
    for (const marked of middle.querySelectorAll("[aria-invalid]")) marked.removeAttribute("aria-invalid");
    for (const marked of middle.querySelectorAll(".plan-wrong")) marked.classList.remove("plan-wrong");
    const here = desk.place;
    for (const fault of desk.faults()) {
      const place = placeOfFault(desk, fault);
      if (place.section !== here.section || String(place.key) !== String(here.key)) continue;
      const field = fieldOf(fault);
      const line = field?.querySelector(":scope > .plan-fault");
      if (!line) continue;
      const words = describe(fault);
      if (!line.textContent.includes(words)) line.textContent = [line.textContent, words].filter(Boolean).join(" ");
      line.hidden = false;
      field.querySelector(":scope > input, :scope > select, :scope > textarea, :scope > .plan-with-unit > input, :scope > .plan-stack > textarea")?.setAttribute("aria-invalid", "true");
      for (let around = field.closest("details"); around && middle.contains(around); around = around.parentElement.closest("details")) around.classList.add("plan-wrong");
    }
  };

  const describe = (fault) => {
    const where = Object.entries(fault.factors).map(([name, level]) => `${name} = ${level}`).join(", ");
    return where ? `${where}: ${fault.what}` : fault.what;
  };
  desk.describe = describe;

  // Go to the control at a path of one cell's plan.
  desk.jump = (at, factors = {}) => {
    const parts = at.split(".");
    parts.forEach((_, depth) => opened.add(parts.slice(0, depth + 1).join(".")));
    const place = placeOfFault(desk, { at, factors });
    desk.open(place.section, place.key, false);
    const field = fieldOf({ at, factors }) ?? middle;
    const target = field.querySelector("input:not([disabled]), select, textarea, button.plan-small") ?? field;
    field.scrollIntoView({ block: "center", behavior: "instant" });
    target.focus({ preventScroll: true });
  };

  // ---- saving ------------------------------------------------------------------------------------------

  // One save after the other: the next would be in conflict with one that is under way.
  let last = Promise.resolve();
  desk.save = () => (last = last.then(save, save));

  async function save() {
    if (!desk.unsaved) return;
    const sent = tree.clone(desk.plan);
    desk.say(desk.words.saving);
    let response;
    try {
      response = await desk.post(desk.urls.save, { edit: desk.edit, ...(desk.extra?.() ?? {}) });
    } catch {
      return desk.say(desk.words.not_saved);
    }
    if (isSignedOut(response)) return desk.say(desk.words.signed_out);
    if (response.status === 409) return settle(await response.json());
    if (!response.ok) return desk.say(response.status === 400 ? (await response.json()).error : desk.words.not_saved);
    const saved = await response.json();
    Object.assign(desk, { edit: saved.edit, base: sent, slugChanged: false });
    desk.unsaved = !tree.same(desk.plan, sent);
    showUnsaved();
    desk.onSaved?.(saved);
  }

  // Somebody else saved meanwhile: take what only they changed, and ask where both changed a value.
  function settle({ edit, document: theirs, by }) {
    const { words } = desk;
    const { value, conflicts, taken } = tree.merge(desk.base, desk.plan, theirs);
    const rows = conflicts.map((conflict, i) => {
      const choice = (side, title, shown, checked) =>
        h("label", { className: "plan-side" }, h("span", { className: "plan-switch" }, h("input", { type: "radio", name: `side-${i}`, value: side, checked }), h("strong", {}, title)), h("pre", {}, asText(shown, words)));
      return h("fieldset", { className: "plan-conflict" }, h("legend", {}, desk.placeOf(conflict.path)), h("div", { className: "plan-sides" }, choice("mine", words.yours, conflict.mine, true), choice("theirs", words.theirs, conflict.theirs, false)));
    });
    const dialog = h(
      "dialog",
      { className: "plan-dialog plan-broad", "aria-labelledby": "settle-title" },
      h(
        "form",
        {
          method: "dialog",
          onsubmit: () => {
            conflicts.forEach((conflict, i) => dialog.querySelector(`[name=side-${i}]:checked`).value === "theirs" && tree.put(value, conflict.path, tree.clone(conflict.theirs)));
            Object.assign(desk, { plan: value, base: tree.clone(theirs), edit });
            desk.changed();
            desk.refresh();
            desk.save();
          },
        },
        h("h2", { id: "settle-title" }, fill(words.meanwhile, { by })),
        h("p", {}, conflicts.length ? words.choose_sides : words.no_conflict),
        rows,
        taken.length ? h("details", { className: "plan-details", open: !conflicts.length }, h("summary", {}, fill(words.their_changes, { number: taken.length })), h("ul", {}, taken.map((each) => h("li", {}, h("strong", {}, desk.placeOf(each.path)), `: ${asText(each.mine, words)} → ${asText(each.theirs, words)}`)))) : null,
        h("div", { className: "plan-row plan-end" }, button(words.back_to_editing, { onclick: () => dialog.close() }), h("button", { type: "submit", className: "plan-button plan-main" }, words.save_merged)),
      ),
    );
    dialog.addEventListener("close", () => dialog.remove());
    root.append(dialog);
    dialog.showModal();
    showUnsaved();
  }

  desk.replace = (plan) => {
    desk.plan = plan;
    desk.changed();
    desk.open("study");
  };

  addEventListener("beforeunload", (event) => desk.unsaved && event.preventDefault());
  root.querySelector("[data-save]")?.addEventListener("click", desk.save);
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "s") event.preventDefault(), desk.unsaved && desk.save();
  });
  showUnsaved();
  return desk;
}

// A value as a person would read it.
export function asText(value, words) {
  if (value === undefined || value === null) return words.none;
  if (typeof value === "boolean") return value ? words.yes : words.no;
  if (typeof value !== "object") return String(value);
  if (tree.isVaried(value)) return [`${words.by} ${value.by}`, ...Object.entries(value.values ?? {}).map(([level, each]) => `${level}: ${asText(each, words)}`)].join("\n");
  const entries = Array.isArray(value) ? value.map((each, i) => [i + 1, each]) : Object.entries(value);
  return entries.map(([key, each]) => `${key}: ${asText(each, words).replaceAll("\n", "\n  ")}`).join("\n") || words.none;
}
