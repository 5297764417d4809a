// Shows a study's agents and line-ups as forms; the text fields underneath hold them as JSON and are submitted.
// Data that this script does not know stay unchanged: only edited parts are rewritten.
const agentsField = document.querySelector("textarea[data-agents]");
const lineupsField = document.querySelector("textarea[data-lineups]");
if (agentsField && lineupsField) compose();

function compose() {
  const { actionButton, editor, element, labelled, labelledRow, option, read, tell, write } = Controls;
  const table = JSON.parse(lineupsField.dataset.lineups);
  const form = agentsField.form;
  const lineups = read(lineupsField, () => []);
  const shownAgents = lineups && agentCards(agentsField, { drawn: drawLineups, renamed });
  if (!shownAgents) return;
  const { agents, words } = shownAgents;
  const rolesRow = form.querySelector('[name="roles"]')?.closest(".form-row, .field-line");
  const lineupList = editor(lineupsField, words.add_lineup, words.no_lineups, () => {
    lineups.push({ name: lineups.length ? freeName() : "", weight: 1, seats: firstSeats() });
    keepLineups();
    drawLineups();
    lineupList.list.lastElementChild.querySelector("input").focus();
  });

  const fillsIn = form.querySelector('select[name="fills_in"]');

  // The replacement is one of the agents, even after renaming.
  function listFillsIn() {
    if (!fillsIn) return;
    const now = fillsIn.value;
    const none = fillsIn.options[0].textContent;
    const labels = agents.map(({ label }) => label);
    if (now && !labels.includes(now)) labels.push(now);
    fillsIn.replaceChildren(option("", none, now), ...labels.map((label) => option(label, label, now)));
  }

  function renamed(before, label) {
    for (const lineup of lineups)
      for (const [seat, taker] of Object.entries(lineup.seats ?? {})) {
        if (taker === before) lineup.seats[seat] = label;
        if (Array.isArray(taker)) lineup.seats[seat] = taker.map((one) => (one === before ? label : one));
      }
    if (fillsIn?.value === before) {
      fillsIn.append(option(label, label, label));
      fillsIn.value = label;
    }
    keepLineups();
  }

  let refused = [];
  form.addEventListener("live-preview", ({ detail }) => {
    refused = detail.errors?.lineups ?? [];
    tell(lineupList.list, refused);
    if (!detail.seats?.length || JSON.stringify(detail.seats) === JSON.stringify(table.seats)) return;
    table.seats = detail.seats;
    if (!lineupList.list.contains(document.activeElement)) drawLineups();
  });

  function keepLineups() {
    write(lineupsField, lineups);
    if (rolesRow) rolesRow.classList.toggle("parley-hidden", lineups.length > 0);
  }

  function drawLineups() {
    lineupList.show(lineups.map(lineupCard));
    listFillsIn();
    tell(lineupList.list, refused);
    lineupList.empty.textContent = table.seats.length === 1 ? words.alone : words.no_lineups;
    lineupList.add.hidden = table.seats.length === 1 && !lineups.length;
    if (rolesRow) rolesRow.classList.toggle("parley-hidden", lineups.length > 0);
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
    const actions = element("div", { className: "parley-question-actions" });
    actions.append(
      actionButton(words.copy, name, () => {
        lineups.splice(place + 1, 0, { ...structuredClone(lineup), name: freeName() });
        keepLineups();
        drawLineups();
      }),
      actionButton(words.remove, name, () => {
        lineups.splice(place, 1);
        keepLineups();
        drawLineups();
        lineupList.add.focus();
      }),
    );
    box.append(head, actions, row);
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

  // Seats of one kind are filled by counts of participants and agents; their order does not matter.
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
          const remove = actionButton("✕", `${words.remove}: ${who.querySelector("select").selectedOptions[0]?.textContent ?? ""}`, () => {
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

  // A menu for a seat: a participant, an agent, or one of several; `nobody` labels the empty choice.
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

  shownAgents.draw();
}
