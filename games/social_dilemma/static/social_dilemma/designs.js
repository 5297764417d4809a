// What a contract or mediator would mean for every outcome, and what percentages sum to.
"use strict";
{
  const plain = (points) => String(Number(points.toFixed(4)));
  // The others' actions are sorted: outcomes that differ only in which of them plays what get the same line.
  const mean = (box, move, own, others) => {
    const told = others.map(([action, points]) => [says(box, "other", action), plain(points)]).sort((a, b) => a.join().localeCompare(b.join()));
    const moves = [says(box, "you", move), ...told.map(([words]) => words)];
    return box.dataset.line.replace("MOVES", moves.join(", ")).replace("OWN", plain(own)).replace("OTHERS", told.map(([, points]) => points).join(", "));
  };
  const says = (box, who, action) => box.dataset[who].replace("ACTION", action);

  function underContract(box, outcomes, _labels, clauses) {
    const payments = clauses.map((text) => numbers.read(String(text)));
    if (payments.some((payment) => !Number.isInteger(payment)) || clauses.some((text) => String(text).trim() === "")) return null;
    const seat = Number(box.dataset.position), others = outcomes[0].others.length;
    return outcomes.map((one) => {
      const paid = one.played.map((action) => payments[action]);
      const total = paid.reduce((sum, part) => sum + part, 0);
      const gets = (at, points) => points + paid[at] - (total - paid[at]) / others;
      const rest = one.played.map((_action, at) => at).filter((at) => at !== seat);
      return mean(box, one.own, gets(seat, one.points), rest.map((at, place) => [one.others[place], gets(at, one.others_points[place])]));
    });
  }

  function underMediator(box, outcomes, labels, clauses) {
    const actions = clauses.map((text) => labels.findIndex(([name, label]) => text === name || text === label));
    if (actions.some((action) => action < 0)) return null;
    const seat = Number(box.dataset.position), seats = outcomes[0].played.length, delegating = labels.length - 1;
    const found = new Map(outcomes.map((one) => [one.played.join(), one]));
    const lines = [];
    for (let code = 0; code < labels.length ** seats; code++) {
      const chosen = Array.from({ length: seats }, (_none, at) => Math.floor(code / labels.length ** (seats - 1 - at)) % labels.length);
      const delegators = chosen.filter((choice) => choice === delegating).length;
      if (!delegators) continue;
      const one = found.get(chosen.map((choice) => (choice === delegating ? actions[delegators - 1] : choice)).join());
      const named = chosen.map((choice, at) => (choice !== delegating ? labels[choice][1] : at === seat ? box.dataset.delegate : box.dataset.delegates));
      const rest = chosen.map((_choice, at) => at).filter((at) => at !== seat);
      lines.push(mean(box, named[seat], one.points, rest.map((at, place) => [named[at], one.others_points[place]])));
    }
    return lines;
  }

  function tell(box) {
    const outcomes = JSON.parse(box.dataset.outcomes), labels = Object.entries(JSON.parse(box.dataset.choices));
    const from = box.closest("[data-clauses], [data-proposal]");
    const clauses = from ? [...from.querySelectorAll("[data-clause]")].map((one) => one.value ?? (one.dataset.clause || one.textContent)) : [];
    const under = box.dataset.meaning === "contract" ? underContract : underMediator;
    const lines = !clauses.length ? null : under(box, outcomes, labels, clauses.map((text) => text.trim()));
    box.hidden = lines === null;
    if (lines) box.querySelector("ul").replaceChildren(...[...new Set(lines)].map((line) => Object.assign(document.createElement("li"), { textContent: line })));
  }

  function sum(box) {
    const typed = [...box.querySelectorAll("input")].map((field) => field.value.trim());
    const shown = box.querySelector("[data-sum-shown]");
    const total = typed.reduce((all, text) => all + Number(text), 0);
    shown.hidden = typed.every((text) => text === "") || !Number.isFinite(total);
    shown.textContent = box.dataset.sum.replace("SUM", total);
  }

  document.addEventListener("input", (event) => {
    const clauses = event.target.closest("[data-clauses]"), shares = event.target.closest("[data-shares]");
    if (clauses) clauses.querySelectorAll("[data-meaning]").forEach(tell);
    if (shares) sum(shares);
  });

  function begin() {
    document.querySelectorAll("[data-meaning]").forEach(tell);
    document.querySelectorAll("[data-shares]").forEach(sum);
  }
  document.addEventListener("parley:screen", begin);
  begin();
}
