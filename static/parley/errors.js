// On a page that refused an answer: removes an error once its field is changed.
"use strict";
{
  const summary = document.querySelector(".errors");
  const NUMBER = /^\s*-?[$€£]?\s*(\d+|\d{1,3}(,\d{3})+)?([.]\d+)?\s*$/;
  const good = (field) => {
    if (field.type === "checkbox" || field.type === "radio") return field.checked;
    const text = field.value.trim();
    return text !== "" && (!["decimal", "numeric"].includes(field.inputMode) || NUMBER.test(text));
  };
  const check = (event) => {
    const field = event.target;
    if (!field.name || !good(field)) return;
    const place = field.closest("fieldset[id]")?.id || field.id;
    const line = document.getElementById(`${place}-error`);
    if (line) line.hidden = true;
    field.removeAttribute("aria-invalid");
    const link = summary?.querySelector(`a[href="#${CSS.escape(place)}"]`)?.closest("li");
    link?.remove();
    if (summary && !summary.querySelector("li")) summary.hidden = true;
  };
  document.addEventListener("input", check);
  document.addEventListener("change", check);
}
