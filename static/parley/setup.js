// The study's setup: turns the form's sections into steps and previews the study while you type.
const form = document.getElementById("study_form");
const nav = document.querySelector("[data-steps]");
if (form && nav) setUp();

function setUp() {
  const livePreview = document.querySelector("[data-live-preview]");
  const buttons = [...nav.querySelectorAll("[data-step]")];
  const names = buttons.map((button) => button.dataset.step);
  const sections = new Map(names.map((name) => [name, []]));
  let at = names[0];
  for (const section of form.querySelectorAll("fieldset.module")) {
    at = names.find((name) => section.classList.contains(`step-${name}`)) ?? at;
    sections.get(at).push(section);
  }
  let now = 0;

  // ---- one step at a time -------------------------------------------------------------------------

  function show(step, { focus = true } = {}) {
    now = Math.min(Math.max(step, 0), names.length - 1);
    for (const [name, parts] of sections)
      for (const part of parts) part.classList.toggle("parley-hidden", name !== names[now]);
    buttons.forEach((button, place) => {
      if (place === now) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    scrollToStep(buttons[now]);
    showPreview();
    livePreview.querySelector("[data-back]").disabled = now === 0;
    livePreview.querySelector("[data-next]").hidden = now === names.length - 1;
    if (!focus) return;
    const first = sections.get(names[now])[0];
    if (!first) return;
    first.tabIndex = -1;
    first.focus({ preventScroll: true });
    nav.scrollIntoView({ block: "start" });
  }

  // Scroll the row of steps only: the page stays where it is, for example at the study's status.
  function scrollToStep(button) {
    const row = button.closest("ol");
    const [{ left, width }, outer] = [button.getBoundingClientRect(), row.getBoundingClientRect()];
    row.scrollLeft += left + width / 2 - (outer.left + outer.width / 2);
  }

  // Each step shows a preview of its own texts.
  function showPreview() {
    const preview = livePreview.querySelector("[data-preview]");
    const parts = [...preview.querySelectorAll("[data-in]")];
    parts.forEach((part) => (part.hidden = part.dataset.in !== names[now]));
    preview.hidden = !parts.some((part) => !part.hidden);
  }

  buttons.forEach((button, place) => button.addEventListener("click", () => show(place)));

  // Links above the form lead to the field that they name, and open what hides it.
  for (const link of document.querySelectorAll("a[data-field]"))
    link.addEventListener("click", (event) => {
      const line = fieldCalled(link.dataset.field)?.closest(".field-line");
      const step = names.findIndex((name) => sections.get(name).some((part) => part.contains(line)));
      if (step < 0) return;
      event.preventDefault();
      show(step);
      line.querySelectorAll("details").forEach((one) => (one.open = true));
      // Opened sections draw their controls when they are told that they are open.
      setTimeout(() => {
        const labels = [...line.querySelectorAll("label")];
        const place = labels.find((one) => link.dataset.label && one.textContent.startsWith(link.dataset.label)) ?? line;
        place.scrollIntoView({ block: "center" });
        place.querySelector("input:not([type=hidden]), select, textarea:not(.parley-hidden)")?.focus({ preventScroll: true });
      });
    });
  livePreview.querySelector("[data-back]").addEventListener("click", () => show(now - 1));
  livePreview.querySelector("[data-next]").addEventListener("click", () => show(now + 1));

  // ---- one value or several -----------------------------------------------------------------------

  for (const several of form.querySelectorAll('[name^="several_"]')) {
    const row = several.closest(".form-row");
    const line = several.closest(".field-line");
    const single = [...row.querySelectorAll(".field-line")].filter((one) => one !== line);
    const vary = document.createElement("button");
    vary.type = "button";
    vary.className = "parley-vary";
    vary.setAttribute("aria-controls", several.id);
    row.classList.add("parley-varied");
    row.append(vary);
    const turn = (varied) => {
      line.classList.toggle("parley-hidden", !varied);
      single.forEach((one) => one.classList.toggle("parley-hidden", varied));
      vary.textContent = varied ? nav.dataset.single : nav.dataset.vary;
      const label = single[0].querySelector("label");
      vary.setAttribute("aria-label", `${vary.textContent}: ${label ? label.textContent.trim() : several.name}`);
      vary.setAttribute("aria-expanded", String(varied));
    };
    vary.addEventListener("click", () => {
      const varied = line.classList.contains("parley-hidden");
      if (varied) several.value = several.dataset.kept || several.dataset.all || "";
      if (!varied) [several.dataset.kept, several.value] = [several.value, ""];
      turn(varied);
      several.dispatchEvent(new Event("input", { bubbles: true }));
      (varied ? several : single[0].querySelector("input, select"))?.focus();
    });
    turn(several.value !== "" || line.classList.contains("errors"));
  }

  // ---- errors -------------------------------------------------------------------------------------

  const touched = new Set();
  const refused = new Map();
  for (const list of form.querySelectorAll(".errorlist")) {
    const line = list.closest(".field-line");
    const field = line?.querySelector("[name]");
    if (field) refused.set(ofForm(field.name), list.closest("div"));
  }

  // A game's own controls are named after their field, followed by a colon and a suffix.
  function ofForm(name) {
    return name.split(":")[0];
  }

  function fieldCalled(name) {
    return form.querySelector(`[name="${CSS.escape(name)}"], [data-entry="${CSS.escape(name)}"]`);
  }

  function tell(errors) {
    for (const name of touched) {
      const field = fieldCalled(name);
      const line = field?.closest(".field-line");
      if (!line) continue;
      refused.get(name)?.remove();
      refused.delete(name);
      let said = line.querySelector(".parley-field-error");
      const reasons = errors[name];
      if (!reasons) {
        said?.remove();
        if (field.getAttribute("aria-describedby") === `refused-${name}`) field.removeAttribute("aria-describedby");
        if (field.name) field.removeAttribute("aria-invalid");
        continue;
      }
      if (!said) {
        said = document.createElement("p");
        said.className = "parley-field-error";
        said.id = `refused-${name}`;
        (field.closest(".grow") ?? line).append(said);
      }
      if (said.textContent !== reasons.join(" ")) said.textContent = reasons.join(" ");
      if (!field.name) continue; // A game's own controls show their errors themselves.
      field.setAttribute("aria-invalid", "true");
      field.setAttribute("aria-describedby", `refused-${name}`);
    }
    mark();
  }

  function mark() {
    let first = null;
    buttons.forEach((button, place) => {
      const wrong = sections.get(names[place]).some((part) => part.querySelector(".errorlist, .parley-field-error:not([hidden])"));
      const sign = button.querySelector(".parley-step-wrong");
      sign.hidden = !wrong;
      sign.textContent = wrong ? nav.dataset.wrong : "";
      button.classList.toggle("wrong", wrong);
      if (wrong && first === null) first = place;
    });
    return first;
  }

  // ---- preview ------------------------------------------------------------------------------------

  let waiting;
  let asking = false;
  let again = false;
  let place = ""; // The number of the previewed configuration.

  livePreview.addEventListener("change", ({ target }) => {
    if (!target.matches("[data-place]")) return;
    place = target.value;
    soon();
  });

  async function ask() {
    if (asking) return void (again = true);
    asking = true;
    try {
      const body = new FormData(form);
      if (place) body.set("preview_place", place);
      const answer = await fetch(livePreview.dataset.livePreview + location.search, { method: "POST", body });
      if (answer.ok && !answer.redirected) tellAll(await answer.json());
    } catch {
      // Offline for a moment: the next change retries.
    }
    asking = false;
    if (again) {
      again = false;
      soon();
    }
  }

  function tellAll(answer) {
    form.dispatchEvent(new CustomEvent("live-preview", { detail: answer }));
    replace(form.querySelector("[data-forecast]"), answer.forecast);
    const preview = livePreview.querySelector("[data-preview]");
    if (answer.preview) replace(preview, answer.preview);
    showPreview();
    tell(answer.errors);
  }

  // Keep opened sections open.
  function replace(place, html) {
    place.hidden = !html;
    if (place.dataset.html === html) return;
    place.dataset.html = html;
    const open = new Map([...place.querySelectorAll("details[data-keep]")].map((one) => [one.dataset.keep, one.open]));
    const more = place.querySelector(".parley-estimates-more")?.open;
    const chosen = place.contains(document.activeElement) && document.activeElement.matches("[data-place]");
    place.innerHTML = html;
    for (const one of place.querySelectorAll("details[data-keep]"))
      if (open.has(one.dataset.keep)) one.open = open.get(one.dataset.keep);
    const now = place.querySelector(".parley-estimates-more");
    if (now && more) now.open = true;
    if (chosen) place.querySelector("[data-place]")?.focus();
  }

  function soon() {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 300);
  }

  // ---- unsaved changes ----------------------------------------------------------------------------

  let unsaved = false;
  form.addEventListener("submit", () => (unsaved = false));
  window.addEventListener("beforeunload", (event) => {
    if (unsaved) event.preventDefault();
  });
  for (const kind of ["input", "change"])
    form.addEventListener(kind, (event) => {
      if (!event.target.name) return;
      unsaved = true;
      touched.add(ofForm(event.target.name));
      soon();
    });

  nav.hidden = false;
  livePreview.querySelector("[data-moves]").hidden = false;
  form.classList.add("parley-guided");
  const wrongStep = mark();
  show(wrongStep ?? 0, { focus: false });
  if (wrongStep !== null) goToFirstError();
  document.getElementById("meanwhile")?.focus();

  function goToFirstError() {
    const list = sections.get(names[wrongStep]).map((part) => part.querySelector(".errorlist")).find(Boolean);
    const line = list?.closest(".field-line");
    const field = line?.querySelector("input:not([type=hidden]), select, textarea:not(.parley-hidden), button");
    // Run after the scripts that draw parts of the form.
    setTimeout(() => {
      line?.scrollIntoView({ block: "center" });
      field?.focus({ preventScroll: true });
    });
  }
  ask();
}
