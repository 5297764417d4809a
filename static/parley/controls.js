// Building blocks for scripts that show a JSON text field as a form.
const Controls = (() => {
  // The data in a field; undefined if invalid, so that the user can fix JSON typed without the script.
  function read(field, kind) {
    try {
      const found = JSON.parse(field.value || "null") ?? kind();
      return Array.isArray(found) === Array.isArray(kind()) && typeof found === "object" ? found : undefined;
    } catch {
      return undefined;
    }
  }

  function write(field, value) {
    field.value = JSON.stringify(value);
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // Show each error at the card it names; other errors stay below the list.
  function tell(list, reasons = []) {
    for (const card of list.children) {
      const name = card.querySelector("legend").textContent;
      const own = reasons.filter((reason) => reason.includes(`“${name}”`) || reason.startsWith(`${name}:`));
      let said = card.querySelector(":scope > .parley-field-error");
      if (!own.length) {
        said?.remove();
        continue;
      }
      if (!said) {
        said = element("p", { className: "parley-field-error" });
        said.setAttribute("role", "status");
        card.querySelector(".parley-question-actions").after(said);
      }
      if (said.textContent !== own.join(" ")) said.textContent = own.join(" ");
    }
  }

  // A control for one setting, {name, kind, choices, nullable, usual, long, numbers}, and a function that reads it;
  // it returns undefined for an invalid entry.
  function control(setting, value, words) {
    if (setting.kind === "boolean") {
      const input = element("select");
      input.append(option("true", words.yes, String(value)), option("false", words.no, String(value)));
      return { input, read: () => input.value === "true" };
    }
    if (setting.kind === "choice") {
      const input = element("select");
      const choices = setting.choices.some(([known]) => known === value) ? setting.choices : [...setting.choices, [value, String(value)]];
      for (const [known, title] of choices) input.append(option(String(known), title, String(value)));
      return { input, read: () => choices[input.selectedIndex][0] };
    }
    if (setting.kind === "integer" || setting.kind === "number") {
      const input = element("input", { type: "number", step: setting.kind === "integer" ? 1 : "any", value: value ?? "" });
      if (setting.nullable) input.placeholder = words.none;
      return { input, read: () => (input.value === "" ? (setting.nullable ? null : undefined) : Number(input.value)) };
    }
    if (setting.kind === "lines") {
      const input = element("textarea", { rows: 2, value: (value ?? []).join("\n") });
      const entry = (line) => (setting.numbers && Number.isFinite(Number(line)) ? Number(line) : line);
      const read = () => {
        const lines = input.value.split("\n").map((line) => line.trim()).filter(Boolean);
        return lines.length || !setting.nullable ? lines.map(entry) : null;
      };
      return { input, read };
    }
    if (setting.kind === "data") {
      const input = element("textarea", { rows: 3, value: value === null || value === undefined ? "" : JSON.stringify(value), spellcheck: false });
      const read = () => {
        input.setCustomValidity("");
        try {
          return input.value.trim() ? JSON.parse(input.value) : null;
        } catch {
          input.setCustomValidity(words.no_data);
          input.reportValidity();
          return undefined;
        }
      };
      return { input, read };
    }
    const input = setting.long ? element("textarea", { rows: 3, value: value ?? "" }) : element("input", { type: "text", value: value ?? "" });
    return { input, read: () => input.value };
  }

  function editor(field, adds, none, added) {
    const list = element("div", { className: "parley-questions" });
    const empty = element("p", { className: "parley-quiet", textContent: none });
    const add = element("button", { type: "button", className: "parley-button", textContent: `+ ${adds}` });
    add.addEventListener("click", added);
    field.before(list, empty, add);
    field.classList.add("parley-hidden");
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

  function labelled(title, input, help) {
    const label = element("label", { className: "parley-question-label" });
    label.append(element("span", { textContent: title }), input);
    if (help) label.append(element("span", { className: "parley-question-help", textContent: help }));
    return label;
  }

  function actionButton(title, name, done) {
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

  return { read, write, tell, control, editor, labelledRow, labelled, actionButton, option, element };
})();
