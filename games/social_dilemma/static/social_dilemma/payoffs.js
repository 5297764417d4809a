// The payoff card: choose an action of yours and of the others to see what it would bring. Nothing is sent.
"use strict";
{
  const made = (tag, properties) => Object.assign(document.createElement(tag), properties);

  function choices(title, actions, chosen, choose) {
    const group = made("div", { className: "row" });
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", title);
    group.append(made("span", { textContent: title }));
    for (const action of actions) {
      const button = made("button", { type: "button", textContent: action, onclick: () => choose(action) });
      button.setAttribute("aria-pressed", action === chosen);
      group.append(button);
    }
    return group;
  }

  function show(card, own, others) {
    const outcomes = JSON.parse(card.dataset.payoffs), told = (one) => one.others.join(", ");
    const unique = (values) => [...new Set(values)];
    const found = outcomes.find((one) => one.own === own && told(one) === others);
    const line = made("p", { textContent: found ? card.dataset.line.replace("OWN", found.points).replace("OTHERS", found.others_points.join(", ")) : "" });
    line.setAttribute("role", "status");
    card.replaceChildren(
      choices(card.dataset.you, unique(outcomes.map((one) => one.own)), own, (action) => show(card, action, others)),
      choices(card.dataset.others, unique(outcomes.map(told)), others, (action) => show(card, own, action)),
      line,
    );
    card.hidden = false;
  }

  const begin = () => { for (const card of document.querySelectorAll("[data-payoffs]:empty")) show(card, null, null); };
  document.addEventListener("parley:screen", begin);
  begin();
}
