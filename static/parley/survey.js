// An editor for a survey's questions; the text field underneath holds them as JSON and is submitted.
for (const field of document.querySelectorAll("textarea[data-survey]")) edit(field);

function edit(field) {
  const words = JSON.parse(field.dataset.survey);
  let questions;
  try {
    questions = JSON.parse(field.value || "[]") ?? [];
  } catch {
    return; // Leave invalid JSON, typed without this script, for the user to fix.
  }
  if (!Array.isArray(questions)) return;
  questions = questions.map(({ ends_if: ends, ...question }) =>
    ends ? { ...question, ends: JSON.parse(ends.slice(ends.indexOf("["))) } : question,
  );

  const list = element("div", { className: "parley-questions" });
  const empty = element("p", { className: "parley-quiet", textContent: words.none });
  const add = element("button", { type: "button", className: "parley-button", textContent: `+ ${words.add}` });
  field.before(list, empty, add);
  field.classList.add("parley-hidden");
  const title = field.closest(".field-line").querySelector("label");
  if (title) list.setAttribute("aria-label", title.textContent.trim());
  list.setAttribute("role", "group");

  add.addEventListener("click", () => {
    questions.push({ kind: "long", text: "" });
    draw();
    keep();
    list.lastElementChild.querySelector("textarea").focus();
  });

  function keep() {
    const taken = new Set(questions.map(({ name }) => name));
    field.value = JSON.stringify(questions.map((question) => stored(question, taken)));
    field.dispatchEvent(new Event("input", { bubbles: true }));
    empty.hidden = questions.length > 0;
    add.disabled = questions.length >= Number(field.dataset.most);
  }

  // The question as the server takes it: with a name, and the options that end the study as a condition.
  function stored({ ends, ...question }, taken) {
    let name = question.name || columnOf(question.text ?? "");
    for (let number = 2; !question.name && taken.has(name); number++) name = `${columnOf(question.text)}_${number}`;
    taken.add(name);
    return { ...question, name, ...(ends?.length ? { ends_if: `${name} in ${JSON.stringify(ends)}` } : {}) };
  }

  function draw() {
    list.replaceChildren(...questions.map(card));
    empty.hidden = questions.length > 0;
    add.disabled = questions.length >= Number(field.dataset.most);
  }

  function card(question, place) {
    const name = words.question.replace("{number}", place + 1);
    const box = element("fieldset", { className: "parley-question" });
    const head = element("legend", { textContent: name });
    const change = (key, value) => {
      if (value === "" || value === undefined || value === null) delete question[key];
      else question[key] = value;
      keep();
    };
    const prompt = element("textarea", { rows: 2, value: question.text ?? "", maxLength: 1000 });
    prompt.addEventListener("input", () => {
      question.text = prompt.value;
      column.placeholder = columnOf(question.text);
      keep();
    });
    const said = element("p", { className: "parley-field-error", hidden: true });
    said.setAttribute("role", "status");
    const complain = () => {
      const reasons = problems(question);
      said.hidden = !reasons.length;
      said.textContent = reasons.join(" ");
    };
    // Shown when the question loses focus, removed as soon as it is fixed.
    box.addEventListener("focusout", ({ relatedTarget }) => {
      if (!box.contains(relatedTarget)) complain();
    });
    box.addEventListener("input", () => {
      if (!said.hidden) complain();
    });
    const kind = element("select");
    for (const one of ["long", "number", "single", "scale"])
      kind.append(element("option", { value: one, textContent: words[one], selected: one === question.kind }));
    kind.addEventListener("change", () => {
      for (const key of ["options", "ends", "min", "max", "points", "low", "high"]) delete question[key];
      question.kind = kind.value;
      if (kind.value === "single") question.options = [];
      draw();
      keep();
      list.children[place].querySelector("select").focus();
    });
    const number = (key, fallback) => {
      const input = element("input", { type: "number", step: "any", value: question[key] ?? fallback ?? "" });
      input.addEventListener("input", () => change(key, input.value === "" ? "" : Number(input.value)));
      return labelled(words[key], input);
    };
    const line = (key) => {
      const input = element("input", { type: "text", value: question[key] ?? "" });
      input.addEventListener("input", () => change(key, input.value.trim()));
      return labelled(words[key], input);
    };
    const extra = element("div", { className: "parley-question-row" });
    if (question.kind === "single") {
      const options = element("textarea", { rows: 4, value: (question.options ?? []).join("\n") });
      options.addEventListener("input", () => {
        question.options = options.value.split("\n").map((one) => one.trim()).filter(Boolean);
        ends.draw();
        keep();
      });
      const ends = endings(question);
      extra.append(labelled(words.options, options), ends.box);
    } else if (question.kind === "number") extra.append(number("min"), number("max"));
    else if (question.kind === "scale") extra.append(number("points", 7), line("low"), line("high"));

    const required = element("input", { type: "checkbox", checked: question.required !== false });
    required.addEventListener("change", () => change("required", required.checked ? "" : false));
    const must = element("label", { className: "parley-question-required" });
    must.append(required, ` ${words.required}`);
    const actions = element("div", { className: "parley-question-actions" });
    const move = (by) => () => {
      const [taken] = questions.splice(place, 1);
      questions.splice(place + by, 0, taken);
      draw();
      keep();
      list.children[place + by].querySelector("textarea").focus();
    };
    actions.append(
      actionButton("↑", words.up, name, place === 0, move(-1)),
      actionButton("↓", words.down, name, place === questions.length - 1, move(1)),
      actionButton("✕", words.remove, name, false, () => {
        questions.splice(place, 1);
        draw();
        keep();
        (list.children[Math.min(place, questions.length - 1)]?.querySelector("textarea") ?? add).focus();
      }),
    );
    const row = element("div", { className: "parley-question-row" });
    const key = line("name");
    const column = key.querySelector("input");
    column.placeholder = columnOf(question.text ?? "");
    row.append(labelled(words.kind, kind), key, must);
    box.append(head, actions, labelled(words.text, prompt), row, extra, said);
    return box;
  }

  // The server's checks, worded like the labels.
  function problems(question) {
    const reasons = [];
    if (!(question.text ?? "").trim()) reasons.push(words.missing.replace("{label}", words.text));
    if (question.kind === "single" && (question.options ?? []).length < 2) reasons.push(words.two_options);
    if (new Set(question.options ?? []).size < (question.options ?? []).length) reasons.push(words.twice);
    if (question.min !== undefined && question.max !== undefined && question.min > question.max) reasons.push(words.limits);
    const points = question.points ?? 7;
    if (question.kind === "scale" && !(Number.isInteger(points) && points >= 2 && points <= 11)) reasons.push(words.scale_points);
    if (question.name && !/^[a-z][a-z0-9_]{0,39}$/.test(question.name)) reasons.push(words.column);
    if (question.name && questions.filter(({ name }) => name === question.name).length > 1) reasons.push(words.column_twice);
    return reasons;
  }

  // A column name made of the question's first words.
  function columnOf(prompt) {
    const plain = prompt.normalize("NFKD").replace(/[^\x00-\x7f]/g, "").toLowerCase().replace(/[^a-z0-9\s_-]/g, "");
    const found = plain.match(/[a-z0-9]+/g) ?? [];
    while (found.length && !/^[a-z]/.test(found[0])) found.shift();
    let name = "";
    for (const word of found) {
      if (name && name.length + 1 + word.length > 30) break;
      name = name ? `${name}_${word}` : word.slice(0, 30);
    }
    return name || "question";
  }

  // A checkbox per option that ends the study, only in surveys whose answers may.
  function endings(question) {
    const box = element("fieldset", { className: "parley-question-ends", hidden: !("mayEnd" in field.dataset) });
    const draw = () => {
      const ending = (question.ends ?? []).filter((one) => question.options.includes(one));
      if (ending.length) question.ends = ending;
      else delete question.ends;
      box.replaceChildren(element("legend", { textContent: words.ends }), ...(question.options ?? []).map(tick));
      box.hidden = !("mayEnd" in field.dataset) || !question.options?.length;
    };
    const tick = (option) => {
      const label = element("label", { className: "parley-question-required" });
      const input = element("input", { type: "checkbox", checked: (question.ends ?? []).includes(option) });
      input.addEventListener("change", () => {
        const others = (question.ends ?? []).filter((one) => one !== option);
        question.ends = input.checked ? [...others, option] : others;
        if (!question.ends.length) delete question.ends;
        keep();
      });
      label.append(input, ` ${option}`);
      return label;
    };
    question.options ??= [];
    draw();
    return { box, draw };
  }

  function actionButton(sign, title, name, disabled, done) {
    const button = element("button", { type: "button", className: "parley-button", textContent: sign, disabled, title });
    button.setAttribute("aria-label", `${title}: ${name}`);
    button.addEventListener("click", done);
    return button;
  }

  draw();
}

function labelled(text, input) {
  const label = element("label", { className: "parley-question-label" });
  label.append(element("span", { textContent: text }), input);
  return label;
}

function element(name, properties = {}) {
  return Object.assign(document.createElement(name), properties);
}
