// Agents and line-ups as forms; the text fields underneath keep them as JSON and are what is sent.
// Whatever this script does not know stays as it is: only what somebody changes is written anew.
const agentsField = document.querySelector("textarea[data-agents]");
const lineupsField = document.querySelector("textarea[data-lineups]");
if (agentsField && lineupsField) compose();

function compose() {
  const about = JSON.parse(agentsField.dataset.agents);
  const table = JSON.parse(lineupsField.dataset.lineups);
  const { words } = about;
  const form = agentsField.form;
  const modelsAt = document.querySelector("[data-models]")?.dataset.models;
  let written, lineups;
  try {
    written = JSON.parse(agentsField.value || "{}") ?? {};
    lineups = JSON.parse(lineupsField.value || "[]") ?? [];
  } catch {
    return; // What somebody typed without this script stays theirs to mend.
  }
  if (Array.isArray(written) || typeof written !== "object" || !Array.isArray(lineups)) return;
  const agents = Object.entries(written).map(([label, agent]) => ({ label, agent }));
  const rolesRow = form.querySelector('[name="roles"]')?.closest(".form-row, .field-line");

  const agentList = editor(agentsField, words.add_agent, words.no_agents, () => {
    const label = free(`script:${about.sparring}`);
    agents.push({ label, agent: { spec: `script:${about.sparring}` } });
    keepAgents();
    draw();
    agentList.list.lastElementChild.querySelector("select").focus();
  });
  const lineupList = editor(lineupsField, words.add_lineup, words.no_lineups, () => {
    lineups.push({ name: lineups.length ? freeName() : "", weight: 1, seats: firstSeats() });
    keepLineups();
    draw();
    lineupList.list.lastElementChild.querySelector("input").focus();
  });

  const fillsIn = form.querySelector('select[name="fills_in"]');

  // Who fills in is one of the agents, whatever they are called by now.
  function listFillsIn() {
    if (!fillsIn) return;
    const now = fillsIn.value;
    const none = fillsIn.options[0].textContent;
    const labels = agents.map(({ label }) => label);
    if (now && !labels.includes(now)) labels.push(now);
    fillsIn.replaceChildren(option("", none, now), ...labels.map((label) => option(label, label, now)));
  }

  // What is refused stands at the card that it names; a sentence that names none stays below the list.
  function tell(list, reasons = []) {
    for (const card of list.children) {
      const name = card.querySelector("legend").textContent;
      const own = reasons.filter((reason) => reason.includes(`“${name}”`) || reason.startsWith(`${name}:`));
      let said = card.querySelector(":scope > .parley-refused");
      if (!own.length) {
        said?.remove();
        continue;
      }
      if (!said) {
        said = element("p", { className: "parley-refused" });
        said.setAttribute("role", "status");
        card.querySelector(".parley-question-deeds").after(said);
      }
      if (said.textContent !== own.join(" ")) said.textContent = own.join(" ");
    }
  }

  let refused = {};
  form.addEventListener("outlook", ({ detail }) => {
    refused = detail.errors ?? {};
    tell(agentList.list, refused.agents);
    tell(lineupList.list, refused.lineups);
    if (!detail.seats?.length || JSON.stringify(detail.seats) === JSON.stringify(table.seats)) return;
    table.seats = detail.seats;
    if (!lineupList.list.contains(document.activeElement)) draw();
  });

  // ---- what is kept -------------------------------------------------------------------------------

  function keepAgents() {
    write(agentsField, Object.fromEntries(agents.map(({ label, agent }) => [label, agent])));
  }

  function keepLineups() {
    write(lineupsField, lineups);
    if (rolesRow) rolesRow.classList.toggle("parley-elsewhere", lineups.length > 0);
  }

  function write(field, value) {
    field.value = JSON.stringify(value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function draw() {
    agentList.show(agents.map(agentCard));
    lineupList.show(lineups.map(lineupCard));
    listFillsIn();
    tell(agentList.list, refused.agents);
    tell(lineupList.list, refused.lineups);
    lineupList.empty.textContent = table.seats.length === 1 ? words.alone : words.no_lineups;
    lineupList.add.hidden = table.seats.length === 1 && !lineups.length;
    if (rolesRow) rolesRow.classList.toggle("parley-elsewhere", lineups.length > 0);
  }

  // ---- agents -------------------------------------------------------------------------------------

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
      keepAgents();
      draw();
      agentList.list.children[place].querySelector(model ? "select" : "input[list], select")?.focus();
    });
    row.append(labelled(words.who, who));
    if (model) row.append(modelBlank(one, kind, called, place));
    row.append(labelled(words.name, name, words.name_help));

    const delay = element("input", { type: "number", min: 0, step: "any", value: one.agent.delay ?? 0 });
    delay.addEventListener("input", () => {
      if (Number(delay.value) > 0) one.agent.delay = Number(delay.value);
      else delete one.agent.delay;
      keepAgents();
    });
    const second = element("div", { className: "parley-question-row" });
    second.append(labelled(words.delay, delay));

    const deeds = element("div", { className: "parley-question-deeds" });
    deeds.append(
      deed(words.copy, one.label, () => {
        agents.splice(place + 1, 0, { label: free(one.label), agent: structuredClone(one.agent) });
        keepAgents();
        draw();
      }),
      deed(words.remove, one.label, () => {
        agents.splice(place, 1);
        keepAgents();
        draw();
        agentList.add.focus();
      }),
    );
    box.append(head, deeds, row, second);
    if (model) box.append(settingsOf(one));
    return box;
  }

  // Nobody has given it a name of its own.
  const calledBySpec = ({ label, agent }) => label.replace(/ \d+$/, "") === agent.spec;

  function rename(one, label) {
    const before = one.label;
    one.label = label;
    for (const lineup of lineups)
      for (const [seat, taker] of Object.entries(lineup.seats ?? {})) {
        if (taker === before) lineup.seats[seat] = label;
        if (Array.isArray(taker)) lineup.seats[seat] = taker.map((one) => (one === before ? label : one));
      }
    if (fillsIn?.value === before) {
      fillsIn.append(option(label, label, label));
      fillsIn.value = label;
    }
    keepAgents();
    keepLineups();
  }

  function modelBlank(one, kind, called, place) {
    const list = element("datalist", { id: `models-${place}` });
    const offer = (models) => list.replaceChildren(...models.map((value) => element("option", { value })));
    offer(about.endpoints.find(({ name }) => name === kind)?.models ?? []);
    const blank = element("input", { type: "text", value: called, maxLength: 150, required: true, autocomplete: "off" });
    blank.setAttribute("list", list.id);
    blank.addEventListener("focus", async () => {
      if (!modelsAt || blank.dataset.asked) return;
      blank.dataset.asked = "yes";
      try {
        const answer = await fetch(`${modelsAt}?endpoint=${encodeURIComponent(kind)}`);
        if (answer.ok) offer((await answer.json()).models);
      } catch {
        // Its name can be typed all the same.
      }
    });
    blank.addEventListener("change", () => {
      const usual = calledBySpec(one);
      one.agent.spec = `${kind}:${blank.value.trim()}`;
      if (usual && blank.value.trim()) {
        rename(one, free(one.agent.spec));
        draw();
      } else keepAgents();
    });
    const label = labelled(words.model, blank, words.model_help);
    label.append(list);
    return label;
  }

  // What differs from the usual way of asking; settings that are as usual are not written down.
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
      if (more.open && more.children.length === 1) more.append(blanks());
    });
    const set = (name, value, usual) => {
      const settings = { ...(one.agent.settings ?? {}) };
      if (JSON.stringify(value) === JSON.stringify(usual)) delete settings[name];
      else settings[name] = value;
      if (Object.keys(settings).length) one.agent.settings = settings;
      else delete one.agent.settings;
      tell();
      keepAgents();
      warn();
    };
    const blanks = () => {
      const grid = element("div", { className: "parley-settings" });
      for (const setting of about.settings) {
        const value = one.agent.settings?.[setting.name] ?? setting.usual;
        const { blank, read } = control(setting, value);
        blank.addEventListener(blank.tagName === "SELECT" ? "change" : "input", () => {
          const now = read();
          if (now !== undefined) set(setting.name, now, setting.usual);
        });
        const label = labelled(setting.label, blank);
        const help = element("span", { className: "parley-question-help" });
        help.innerHTML = setting.help; // The house's own words, escaped by the server.
        const cell = element("div", { className: setting.long ? "parley-wide" : "" });
        cell.append(label, help);
        grid.append(cell);
      }
      return grid;
    };
    more.append(head);
    if (more.open) more.append(blanks());

    // An endpoint without tools, asked to use them: said where the strategy is chosen, with the way out.
    const warning = element("div", { className: "parley-question-row" });
    const warn = () => {
      const place = about.endpoints.find(({ name }) => name === one.agent.spec.split(":")[0]);
      const settings = one.agent.settings ?? {};
      const stuck = place && !place.tools && about.by_tools.includes(settings.strategy) && !settings.plain_tools;
      warning.replaceChildren();
      if (!stuck) return;
      const said = element("p", { className: "parley-refused", textContent: words.no_tools.replace("{name}", place.name) });
      const plain = element("button", { type: "button", className: "parley-button", textContent: words.plain_tools });
      plain.addEventListener("click", () => {
        one.agent.settings = { ...(one.agent.settings ?? {}), plain_tools: true };
        keepAgents();
        draw();
      });
      warning.append(said, plain);
    };
    warn();
    const box = element("div");
    box.append(more, warning);
    return box;
  }

  function control(setting, value) {
    if (setting.kind === "boolean") {
      const blank = element("select");
      blank.append(option("true", words.yes, String(value)), option("false", words.no, String(value)));
      return { blank, read: () => blank.value === "true" };
    }
    if (setting.kind === "choice") {
      const blank = element("select");
      const choices = setting.choices.some(([known]) => known === value) ? setting.choices : [...setting.choices, [value, value]];
      for (const [known, title] of choices) blank.append(option(known, title, value));
      return { blank, read: () => blank.value };
    }
    if (setting.kind === "integer" || setting.kind === "number") {
      const blank = element("input", { type: "number", step: setting.kind === "integer" ? 1 : "any", value: value ?? "" });
      if (setting.nullable) blank.placeholder = words.none;
      return { blank, read: () => (blank.value === "" ? (setting.nullable ? null : undefined) : Number(blank.value)) };
    }
    if (setting.kind === "lines") {
      const blank = element("textarea", { rows: 2, value: (value ?? []).join("\n") });
      const read = () => blank.value.split("\n").map((line) => line.trim()).filter(Boolean);
      return { blank, read };
    }
    const blank = setting.long ? element("textarea", { rows: 3, value: value ?? "" }) : element("input", { type: "text", value: value ?? "" });
    return { blank, read: () => blank.value };
  }

  // ---- line-ups -----------------------------------------------------------------------------------

  function freeName() {
    const taken = new Set(lineups.map(({ name }) => name));
    let number = lineups.length + 1;
    while (taken.has(words.lineup.replace("{number}", number))) number += 1;
    return words.lineup.replace("{number}", number);
  }

  function firstSeats() {
    const open = table.seats.find(({ people }) => people) ?? table.seats[0];
    return { [open.role]: table.person, [table.others]: agents[0]?.label ?? table.person };
  }

  function lineupCard(lineup, place) {
    lineup.seats ??= {};
    const name = lineup.name || words.lineup.replace("{number}", place + 1);
    const box = element("fieldset", { className: "parley-question" });
    const head = element("legend", { textContent: name });
    const called = element("input", { type: "text", value: lineup.name ?? "", maxLength: 60 });
    called.addEventListener("input", () => {
      lineup.name = called.value.trim();
      head.textContent = lineup.name || words.lineup.replace("{number}", place + 1);
      keepLineups();
    });
    const weight = element("input", { type: "number", min: 1, max: 1000, step: 1, value: lineup.weight ?? 1 });
    weight.addEventListener("input", () => {
      lineup.weight = Number(weight.value) || 1;
      keepLineups();
    });
    const row = element("div", { className: "parley-question-row parley-from-top" });
    row.append(labelled(words.lineup_name, called), labelled(words.weight, weight, words.weight_help));
    const deeds = element("div", { className: "parley-question-deeds" });
    deeds.append(
      deed(words.copy, name, () => {
        lineups.splice(place + 1, 0, { ...structuredClone(lineup), name: freeName() });
        keepLineups();
        draw();
      }),
      deed(words.remove, name, () => {
        lineups.splice(place, 1);
        keepLineups();
        draw();
        lineupList.add.focus();
      }),
    );
    box.append(head, deeds, row);
    const kinds = Map.groupBy ? Map.groupBy(table.seats, (seat) => seat.kind) : grouped(table.seats);
    for (const seats of kinds.values()) box.append(seats.length > 1 ? countedSeats(lineup, seats) : oneSeat(lineup, seats[0]));
    for (const role of Object.keys(lineup.seats))
      if (role !== table.others && !table.seats.some((seat) => seat.role === role)) {
        const gone = { role, title: words.unknown.replace("{name}", role), people: true };
        if (!countedSeatsCover(role)) box.append(oneSeat(lineup, gone));
      }
    const others = taker(lineup.seats[table.others], words.nobody, true, (chosen) => {
      if (chosen === undefined) delete lineup.seats[table.others];
      else lineup.seats[table.others] = chosen;
      keepLineups();
    });
    box.append(labelledRow(words.others, others));
    return box;
  }

  function grouped(seats) {
    const found = new Map();
    for (const seat of seats) found.set(seat.kind, [...(found.get(seat.kind) ?? []), seat]);
    return found;
  }

  function oneSeat(lineup, seat) {
    const chosen = taker(lineup.seats[seat.role], words.as_others, seat.people, (who) => {
      if (who === undefined) delete lineup.seats[seat.role];
      else lineup.seats[seat.role] = who;
      keepLineups();
    });
    return labelledRow(seat.title, chosen);
  }

  // Seats of one kind are filled by counts: so many people, so many of an agent. Their order says nothing.
  const family = (role) => role.replace(/\d+$/, "");
  function countedSeatsCover(role) {
    return table.seats.some((seat) => family(seat.role) === family(role) && family(role) !== role);
  }

  function countedSeats(lineup, seats) {
    const roles = seats.map((seat) => seat.role);
    const own = Object.keys(lineup.seats).filter((role) => roles.includes(role) || (role !== table.others && family(role) === family(roles[0])));
    const rows = [];
    for (const role of own) {
      const who = lineup.seats[role];
      const same = rows.find((row) => JSON.stringify(row.who) === JSON.stringify(who));
      if (same) same.count += 1;
      else rows.push({ who, count: 1 });
    }
    const box = element("fieldset", { className: "parley-question" });
    const title = seats[0].title.replace(/\s*\d+$/, "");
    const list = element("div", { className: "parley-questions" });
    const said = element("p", { className: "parley-question-help" });
    said.setAttribute("role", "status");
    const tell = () => {
      const filled = rows.reduce((sum, row) => sum + row.count, 0);
      const sentence = filled > seats.length ? words.too_many : filled === seats.length ? words.full : words.filled;
      said.textContent = sentence.replace("{filled}", filled).replace("{all}", seats.length);
    };
    const keep = () => {
      for (const role of own) delete lineup.seats[role];
      own.length = 0;
      let place = 0;
      for (const { who, count } of rows)
        for (let i = 0; i < count; i += 1, place += 1) {
          const role = roles[place] ?? `${family(roles[0])}${place + 1}`;
          own.push(role);
          lineup.seats[role] = who;
        }
      tell();
      keepLineups();
    };
    const show = () => {
      list.replaceChildren(
        ...rows.map((row, number) => {
          const line = element("div", { className: "parley-question-row parley-counted" });
          const count = element("input", { type: "number", min: 0, max: 200, step: 1, value: row.count });
          count.addEventListener("input", () => {
            row.count = Math.min(200, Math.max(0, Math.floor(Number(count.value) || 0)));
            keep();
          });
          const label = labelled(words.count, count);
          label.classList.add("parley-seat-count");
          const who = taker(row.who, null, true, (chosen) => {
            row.who = chosen;
            keep();
          });
          const remove = deed("✕", `${words.remove}: ${who.querySelector("select").selectedOptions[0]?.textContent ?? ""}`, () => {
            rows.splice(number, 1);
            keep();
            show();
          });
          line.append(label, who, remove);
          return line;
        }),
      );
      tell();
    };
    const add = element("button", { type: "button", className: "parley-button", textContent: `+ ${words.add_row}` });
    add.addEventListener("click", () => {
      rows.push({ who: rows.some((row) => row.who === table.person) && agents[0] ? agents[0].label : table.person, count: 1 });
      keep();
      show();
      list.lastElementChild.querySelector("input").focus();
    });
    box.append(element("legend", { textContent: words.seats_of.replace("{title}", title).replace("{number}", seats.length) }), list, said, add);
    show();
    return box;
  }

  // Whoever takes a seat: a person, an agent, or one of several; `nobody` is what no choice is called.
  function taker(now, nobody, people, changed) {
    const box = element("div", { className: "parley-question-row", style: "flex: 1 1 14rem" });
    const choice = element("select");
    const several = "*several*";
    if (nobody !== null) choice.append(option("", nobody, now === undefined ? "" : "x"));
    if (people || now === table.person) choice.append(option(table.person, words.person, now));
    for (const { label } of agents) choice.append(option(label, label, now));
    if (agents.length > 1 || Array.isArray(now)) choice.append(option(several, words.one_of, Array.isArray(now) ? several : ""));
    if (typeof now === "string" && ![...choice.options].some(({ value }) => value === now))
      choice.append(option(now, words.unknown.replace("{name}", now), now));
    choice.value = now === undefined ? "" : Array.isArray(now) ? several : now;
    choice.setAttribute("aria-label", words.who);
    const ticks = element("fieldset", { className: "parley-ticks", hidden: !Array.isArray(now) });
    ticks.setAttribute("aria-label", words.one_of);
    const labels = [...new Set([...agents.map(({ label }) => label), ...(Array.isArray(now) ? now : [])])];
    for (const label of labels) {
      const tick = element("input", { type: "checkbox", value: label, checked: Array.isArray(now) ? now.includes(label) : true });
      const line = element("label", { className: "parley-tick" });
      line.append(tick, label);
      tick.addEventListener("change", () => {
        if (!ticked().length) tick.checked = true;
        changed(ticked());
      });
      ticks.append(line);
    }
    const ticked = () => [...ticks.querySelectorAll("input:checked")].map(({ value }) => value);
    choice.addEventListener("change", () => {
      ticks.hidden = choice.value !== several;
      changed(choice.value === several ? ticked() : choice.value === "" ? undefined : choice.value);
    });
    box.append(choice, ticks);
    return box;
  }

  // ---- parts --------------------------------------------------------------------------------------

  function editor(field, adds, none, added) {
    const list = element("div", { className: "parley-questions" });
    const empty = element("p", { className: "parley-quiet", textContent: none });
    const add = element("button", { type: "button", className: "parley-button", textContent: `+ ${adds}` });
    add.addEventListener("click", added);
    field.before(list, empty, add);
    field.classList.add("parley-elsewhere");
    const title = field.closest(".field-line")?.querySelector("label");
    if (title) list.setAttribute("aria-label", title.textContent.trim());
    list.setAttribute("role", "group");
    const show = (cards) => {
      list.replaceChildren(...cards);
      empty.hidden = cards.length > 0;
    };
    return { list, empty, add, show };
  }

  function labelledRow(title, chosen) {
    const line = element("div", { className: "parley-question-label" });
    line.append(element("span", { textContent: title }), chosen);
    chosen.querySelector("select").setAttribute("aria-label", title);
    return line;
  }

  function labelled(title, blank, help) {
    const label = element("label", { className: "parley-question-label" });
    label.append(element("span", { textContent: title }), blank);
    if (help) label.append(element("span", { className: "parley-question-help", textContent: help }));
    return label;
  }

  function deed(title, name, done) {
    const button = element("button", { type: "button", className: "parley-button", textContent: title });
    button.setAttribute("aria-label", title === "✕" ? name : `${title}: ${name}`);
    button.addEventListener("click", done);
    return button;
  }

  function option(value, title, chosen) {
    return element("option", { value, textContent: title, selected: value === chosen });
  }

  function element(name, properties = {}) {
    const { style, ...others } = properties;
    const made = Object.assign(document.createElement(name), others);
    if (style) made.style.cssText = style;
    return made;
  }

  draw();
}
