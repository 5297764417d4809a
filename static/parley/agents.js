// Shows each agent as a card: model or script, name and settings.
//
// Calls `drawn` after redrawing the cards, and `renamed` with the old and new label.
function agentCards(field, { drawn, renamed }) {
  const { control, actionButton, editor, element, labelled, option, read, tell, write } = Controls;
  const about = JSON.parse(field.dataset.agents);
  const { words } = about;
  const modelsAt = document.querySelector("[data-models]")?.dataset.models;
  const written = read(field, () => ({}));
  if (!written) return null;
  const agents = Object.entries(written).map(([label, agent]) => ({ label, agent }));
  const shown = editor(field, words.add_agent, words.no_agents, () => {
    const label = free(`script:${about.default_script}`);
    agents.push({ label, agent: { spec: `script:${about.default_script}` } });
    keep();
    draw();
    shown.list.lastElementChild.querySelector("select").focus();
  });

  let refused = [];
  field.form.addEventListener("live-preview", ({ detail }) => {
    refused = detail.errors?.[field.name] ?? [];
    tell(shown.list, refused);
  });

  function keep() {
    write(field, Object.fromEntries(agents.map(({ label, agent }) => [label, agent])));
  }

  function draw() {
    shown.show(agents.map(agentCard));
    tell(shown.list, refused);
    drawn();
  }

  function free(wanted) {
    const taken = new Set(agents.map(({ label }) => label));
    for (let number = 1; ; number += 1) {
      const label = number === 1 ? wanted : `${wanted} ${number}`;
      if (!taken.has(label)) return label;
    }
  }

  function agentCard(one, place) {
    const box = element("fieldset", { className: "parley-question" });
    const head = element("legend", { textContent: one.label });
    const name = element("input", { type: "text", value: one.label, maxLength: about.longest, required: true });
    name.addEventListener("change", () => {
      const wanted = name.value.trim();
      if (!wanted || wanted === one.label) return void (name.value = one.label);
      rename(one, free(wanted));
      draw();
    });

    const row = element("div", { className: "parley-question-row parley-from-top" });
    const [kind, ...rest] = one.agent.spec.split(":");
    const called = rest.join(":");
    const who = element("select");
    const scripts = element("optgroup", { label: words.scripts });
    for (const script of about.scripts)
      scripts.append(option(`script:${script}`, words.script.replace("{name}", script), one.agent.spec));
    const places = element("optgroup", { label: words.endpoints });
    for (const { name: place, title } of about.endpoints) places.append(option(place, title || place, kind));
    who.append(scripts, places);
    const model = kind !== "script";
    const wanted = model ? kind : one.agent.spec;
    if (![...who.options].some((known) => known.value === wanted)) {
      const kept = option(wanted, words.unknown.replace("{name}", wanted), wanted);
      who.append(kept);
    }
    who.value = wanted;
    who.addEventListener("change", () => {
      const usual = calledBySpec(one);
      const first = about.endpoints.find((known) => known.name === who.value)?.models[0] ?? "";
      one.agent.spec = who.value.startsWith("script:") ? who.value : `${who.value}:${first}`;
      if (usual) rename(one, free(one.agent.spec));
      keep();
      draw();
      shown.list.children[place].querySelector(model ? "select" : "input[list], select")?.focus();
    });
    row.append(labelled(words.who, who));
    if (model) row.append(modelField(one, kind, called, place));
    row.append(labelled(words.name, name, words.name_help));

    const delay = element("input", { type: "number", min: 0, step: "any", value: one.agent.delay ?? 0 });
    delay.addEventListener("input", () => {
      if (Number(delay.value) > 0) one.agent.delay = Number(delay.value);
      else delete one.agent.delay;
      keep();
    });
    const second = element("div", { className: "parley-question-row" });
    second.append(labelled(words.delay, delay));

    const actions = element("div", { className: "parley-question-actions" });
    actions.append(
      actionButton(words.copy, one.label, () => {
        agents.splice(place + 1, 0, { label: free(one.label), agent: structuredClone(one.agent) });
        keep();
        draw();
      }),
      actionButton(words.remove, one.label, () => {
        agents.splice(place, 1);
        keep();
        draw();
        shown.add.focus();
      }),
    );
    box.append(head, actions, row, second);
    if (model) box.append(settingsOf(one));
    return box;
  }

  // The agent has no custom name.
  const calledBySpec = ({ label, agent }) => label.replace(/ \d+$/, "") === agent.spec;

  function rename(one, label) {
    const before = one.label;
    one.label = label;
    renamed(before, label);
    keep();
  }

  function modelField(one, kind, called, place) {
    const list = element("datalist", { id: `models-${place}` });
    const offer = (models) => list.replaceChildren(...models.map((value) => element("option", { value })));
    offer(about.endpoints.find(({ name }) => name === kind)?.models ?? []);
    const input = element("input", { type: "text", value: called, maxLength: 150, required: true, autocomplete: "off" });
    input.setAttribute("list", list.id);
    input.addEventListener("focus", async () => {
      if (!modelsAt || input.dataset.asked) return;
      input.dataset.asked = "yes";
      try {
        const answer = await fetch(`${modelsAt}?endpoint=${encodeURIComponent(kind)}`);
        if (answer.ok) offer((await answer.json()).models);
      } catch {
        // The name can still be typed.
      }
    });
    input.addEventListener("change", () => {
      const usual = calledBySpec(one);
      one.agent.spec = `${kind}:${input.value.trim()}`;
      if (usual && input.value.trim()) {
        rename(one, free(one.agent.spec));
        draw();
      } else keep();
    });
    const label = labelled(words.model, input, words.model_help);
    label.append(list);
    return label;
  }

  // Settings that differ from the defaults; defaults are not stored.
  function settingsOf(one) {
    const more = element("details", { open: one.open ?? false });
    const count = element("span", { className: "parley-question-help" });
    const tell = () => {
      const number = Object.keys(one.agent.settings ?? {}).length;
      count.textContent = ` · ${number ? words.changed.replace("{number}", number) : words.usual}`;
    };
    const head = element("summary", { textContent: words.asked });
    head.append(count);
    tell();
    more.addEventListener("toggle", () => {
      one.open = more.open;
      if (more.open && more.children.length === 1) more.append(fields());
    });
    const others = () => agents.filter((other) => other !== one && !other.agent.spec.startsWith("script:"));
    const asEveryone = actionButton(words.all_so, one.label, () => {
      for (const other of others())
        if (one.agent.settings) other.agent.settings = structuredClone(one.agent.settings);
        else delete other.agent.settings;
      keep();
      draw();
    });
    const set = (name, value, usual) => {
      const settings = { ...(one.agent.settings ?? {}) };
      if (JSON.stringify(value) === JSON.stringify(usual)) delete settings[name];
      else settings[name] = value;
      if (Object.keys(settings).length) one.agent.settings = settings;
      else delete one.agent.settings;
      tell();
      keep();
      warn();
    };
    const fields = () => {
      const grid = element("div", { className: "parley-settings" });
      for (const setting of about.settings) {
        const value = one.agent.settings?.[setting.name] ?? setting.usual;
        const { input, read } = control(setting, value, words);
        input.addEventListener(input.tagName === "SELECT" ? "change" : "input", () => {
          const now = read();
          if (now !== undefined) set(setting.name, now, setting.usual);
        });
        const label = labelled(setting.label, input);
        const help = element("span", { className: "parley-question-help" });
        help.innerHTML = setting.help; // Parley's own help text, escaped by the server.
        const cell = element("div", { className: setting.long ? "parley-wide" : "" });
        cell.append(label, help);
        grid.append(cell);
      }
      if (others().length) grid.append(asEveryone);
      return grid;
    };
    more.append(head);
    if (more.open) more.append(fields());

    // If the strategy needs tools that the endpoint lacks, warn below the strategy and suggest another.
    const warning = element("div", { className: "parley-question-row" });
    const warn = () => {
      const place = about.endpoints.find(({ name }) => name === one.agent.spec.split(":")[0]);
      const settings = one.agent.settings ?? {};
      const stuck = place && !place.tools && about.by_tools.includes(settings.strategy) && !settings.plain_tools;
      warning.replaceChildren();
      if (!stuck) return;
      const said = element("p", { className: "parley-field-error", textContent: words.no_tools.replace("{name}", place.name) });
      const plain = element("button", { type: "button", className: "parley-button", textContent: words.plain_tools });
      plain.addEventListener("click", () => {
        one.agent.settings = { ...(one.agent.settings ?? {}), plain_tools: true };
        keep();
        draw();
      });
      warning.append(said, plain);
    };
    warn();
    const box = element("div");
    box.append(more, warning);
    return box;
  }

  return { agents, about, words, draw };
}
