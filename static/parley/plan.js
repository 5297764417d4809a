// Shows a collection's plan as forms: agents, line-ups and single configurations. The text fields underneath hold
// them as JSON and are submitted; only edited parts are rewritten.
const planned = document.querySelector("textarea[data-listed]");
if (planned) plan();

function plan() {
  const { control, actionButton, editor, element, labelled, option, read, tell, write } = Controls;
  const form = planned.form;
  const called = (name) => form.querySelector(`textarea[data-${name}]`);
  const fields = { fixed: called("fixed"), pool: called("pool"), byHand: called("by-hand") };
  const table = JSON.parse(fields.fixed.dataset.fixed);
  const about = JSON.parse(planned.dataset.listed);
  const { words } = table;
  const fixed = read(fields.fixed, () => ({}));
  const byHand = read(fields.byHand, () => []);
  const listed = read(planned, () => []);
  let pool = read(fields.pool, () => []);
  if (!fields.pool.value || fields.pool.value === "null") pool = null; // The pool of agents without a fixed seat.
  if (!fixed || !byHand || !listed || pool === undefined) return;

  const fixedSeats = instead(fields.fixed);
  const freeSeats = instead(fields.pool);
  const lineups = editor(fields.byHand, words.add_lineup, words.no_lineups, () => {
    byHand.push(Object.fromEntries(table.seats.map(({ role }, place) => [role, agents[place % agents.length]?.label ?? ""])));
    keepLineups();
    lineups.list.lastElementChild.querySelector("select").focus();
  });
  const configurations = editor(planned, words.add_configuration, words.no_configurations, () => {
    listed.push({});
    opened.add(listed.at(-1));
    keepConfigurations();
    configurations.list.lastElementChild.querySelector("input, select")?.focus();
  });
  const opened = new Set();
  const shown = agentCards(form.querySelector("textarea[data-agents]"), { drawn: drawSeats, renamed });
  if (!shown) return;
  const { agents } = shown;

  function instead(field) {
    const box = element("div", { className: "parley-question" });
    field.before(box);
    field.classList.add("parley-hidden");
    const title = field.closest(".field-line")?.querySelector("label");
    box.setAttribute("role", "group");
    if (title) box.setAttribute("aria-label", title.textContent.trim());
    return box;
  }

  let refused = {};
  form.addEventListener("live-preview", ({ detail }) => {
    refused = detail.errors ?? {};
    tellAll();
    if (!detail.seats?.length || JSON.stringify(detail.seats) === JSON.stringify(table.seats)) return;
    table.seats = detail.seats;
    if (!lineups.list.contains(document.activeElement) && !fixedSeats.contains(document.activeElement)) drawSeats();
  });

  function tellAll() {
    tell(lineups.list, refused.by_hand);
    tell(configurations.list, refused.listed);
  }

  // ---- line-ups -----------------------------------------------------------------------------------

  function renamed(before, label) {
    for (const seats of [fixed, ...byHand])
      for (const [role, taker] of Object.entries(seats)) if (taker === before) seats[role] = label;
    if (pool) pool = pool.map((one) => (one === before ? label : one));
    write(fields.fixed, fixed);
    write(fields.byHand, byHand);
    write(fields.pool, pool);
  }

  function drawSeats() {
    fixedSeats.replaceChildren(seatsOf(fixed, words.free, () => {
      write(fields.fixed, fixed);
      drawPool();
    }));
    drawPool();
    lineups.show(byHand.map(lineupCard));
    tellAll();
  }

  // A menu of agents for each seat, including removed seats that still have an agent.
  function seatsOf(seats, nobody, changed) {
    const box = element("div", { className: "parley-seats" });
    const gone = Object.keys(seats).filter((role) => !table.seats.some((seat) => seat.role === role));
    const all = [...table.seats, ...gone.map((role) => ({ role, title: words.seat_unknown.replace("{name}", role) }))];
    for (const { role, title } of all) {
      const menu = element("select");
      const now = seats[role] ?? "";
      if (nobody || !now || gone.includes(role)) menu.append(option("", nobody || words.none, now));
      const known = agents.map(({ label }) => label);
      for (const label of known) menu.append(option(label, label, now));
      if (now && !known.includes(now)) menu.append(option(now, words.unknown.replace("{name}", now), now));
      menu.addEventListener("change", () => {
        if (menu.value) seats[role] = menu.value;
        else delete seats[role];
        changed();
      });
      box.append(labelled(title, menu));
    }
    return box;
  }

  function drawPool() {
    const keepSeats = new Set(Object.values(fixed));
    const inPool = pool ?? agents.map(({ label }) => label).filter((label) => !keepSeats.has(label));
    const known = agents.map(({ label }) => label);
    const ticks = element("div", { className: "parley-ticks" });
    for (const label of [...known, ...inPool.filter((one) => !known.includes(one))]) {
      const tick = element("input", { type: "checkbox", value: label, checked: inPool.includes(label) });
      const line = element("label", { className: "parley-tick" });
      line.append(tick, known.includes(label) ? label : words.unknown.replace("{name}", label));
      tick.addEventListener("change", () => {
        pool = [...ticks.querySelectorAll("input:checked")].map(({ value }) => value);
        write(fields.pool, pool);
      });
      ticks.append(line);
    }
    freeSeats.replaceChildren(element("p", { className: "parley-question-help", textContent: words.in_pool }), ticks);
  }

  function keepLineups() {
    write(fields.byHand, byHand);
    lineups.show(byHand.map(lineupCard));
    tellAll();
  }

  function lineupCard(seats, place) {
    const name = words.lineup.replace("{number}", place + 1);
    return card(name, byHand, place, keepLineups, lineups, [seatsOf(seats, "", () => write(fields.byHand, byHand))]);
  }

  // ---- configurations -----------------------------------------------------------------------------

  const fromGrid = element("button", { type: "button", className: "parley-button", textContent: words.from_grid });
  const said = element("p", { className: "parley-question-help" });
  said.setAttribute("role", "status");
  configurations.add.after(" ", fromGrid, said);
  fromGrid.addEventListener("click", async () => {
    const body = new FormData(form);
    body.set("configurations_from", "grid");
    const answer = await fetch(document.querySelector("[data-size]").dataset.size + location.search, { method: "POST", body });
    if (!answer.ok) return;
    const { configurations: found } = await answer.json();
    said.textContent = found ? "" : words.too_large;
    listed.push(...(found ?? []));
    keepConfigurations();
  });

  function keepConfigurations() {
    write(planned, listed);
    configurations.show(listed.map(configurationCard));
    tellAll();
  }

  function configurationCard(configuration, place) {
    const name = words.configuration.replace("{number}", place + 1);
    const more = element("details", { open: opened.has(configuration) });
    const head = element("summary");
    const sum = () => {
      const changed = about.parameters
        .filter((one) => one.name in configuration && JSON.stringify(configuration[one.name]) !== JSON.stringify(one.usual))
        .map((one) => `${one.label}: ${inWords(one, configuration[one.name])}`);
      const own = Object.keys(configuration).filter((key) => !about.parameters.some((one) => one.name === key));
      const unknown = own.map((key) => `${words.unknown.replace("{name}", key)}: ${JSON.stringify(configuration[key])}`);
      head.textContent = [...changed, ...unknown].join(" · ") || words.as_game;
    };
    const inputs = () => {
      const grid = element("div", { className: "parley-settings" });
      for (const one of about.parameters) {
        if (one.of_grid && !(one.name in configuration)) {
          grid.append(element("p", { className: "parley-question-help", textContent: words.of_grid.replace("{name}", one.label) }));
          continue;
        }
        const { input, read } = control(one, configuration[one.name] ?? (one.name in configuration ? null : one.usual), words);
        input.addEventListener(input.tagName === "SELECT" ? "change" : "input", () => {
          const value = read();
          if (value === undefined) return;
          if (JSON.stringify(value) === JSON.stringify(one.usual)) delete configuration[one.name];
          else configuration[one.name] = value;
          sum();
          write(planned, listed);
        });
        const cell = element("div", { className: one.long || one.kind === "data" ? "parley-wide" : "" });
        const help = element("span", { className: "parley-question-help" });
        help.innerHTML = one.help; // Parley's own help text, escaped by the server.
        cell.append(labelled(one.label, input), help);
        grid.append(cell);
      }
      return grid;
    };
    more.append(head);
    if (more.open) more.append(inputs());
    more.addEventListener("toggle", () => {
      if (more.open) opened.add(configuration);
      else opened.delete(configuration);
      if (more.open && more.children.length === 1) more.append(inputs());
    });
    sum();
    return card(name, listed, place, keepConfigurations, configurations, [more]);
  }

  function inWords(one, value) {
    if (value === null) return words.none;
    if (typeof value === "boolean") return value ? words.yes : words.no;
    return typeof value === "object" ? JSON.stringify(value) : (one.choices.find(([known]) => known === value)?.[1] ?? String(value));
  }

  // ---- parts --------------------------------------------------------------------------------------

  // One entry of a list, which can be copied and removed.
  function card(name, all, place, keep, list, parts) {
    const box = element("fieldset", { className: "parley-question" });
    const actions = element("div", { className: "parley-question-actions" });
    actions.append(
      actionButton(words.copy, name, () => {
        all.splice(place + 1, 0, structuredClone(all[place]));
        keep();
      }),
      actionButton(words.remove, name, () => {
        all.splice(place, 1);
        keep();
        list.add.focus();
      }),
    );
    box.append(element("legend", { textContent: name }), actions, ...parts);
    return box;
  }

  configurations.show(listed.map(configurationCard));
  shown.draw();
}
