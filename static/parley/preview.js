// A button that previews the form's current entries in a new tab without saving.
for (const button of document.querySelectorAll("button[data-preview]")) {
  button.addEventListener("click", () => {
    const form = button.closest("form");
    const usual = { action: form.getAttribute("action"), target: form.getAttribute("target") };
    form.setAttribute("action", button.dataset.preview);
    form.setAttribute("target", "_blank");
    // Don't click a submit button, so that the form is neither validated nor considered saved.
    HTMLFormElement.prototype.submit.call(form);
    for (const [name, value] of Object.entries(usual)) value === null ? form.removeAttribute(name) : form.setAttribute(name, value);
  });
}
