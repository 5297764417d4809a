// A form's button that shows what it would make, as it is typed now, in a tab of its own; nothing is saved.
for (const button of document.querySelectorAll("button[data-preview]")) {
  button.addEventListener("click", () => {
    const form = button.closest("form");
    const usual = { action: form.getAttribute("action"), target: form.getAttribute("target") };
    form.setAttribute("action", button.dataset.preview);
    form.setAttribute("target", "_blank");
    // Not a click on a submit button: the form is neither checked nor taken for saved.
    HTMLFormElement.prototype.submit.call(form);
    for (const [name, value] of Object.entries(usual)) value === null ? form.removeAttribute(name) : form.setAttribute(name, value);
  });
}
