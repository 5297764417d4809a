// Updates the marked parts of a game's own form controls while a researcher types.
document.addEventListener("live-preview", ({ detail }) => {
  for (const [name, html] of Object.entries(detail.entries ?? {})) {
    const box = document.querySelector(`[data-entry="${CSS.escape(name)}"]`);
    if (!box) continue;
    const fresh = new DOMParser().parseFromString(html, "text/html");
    for (const part of fresh.querySelectorAll("[data-part]")) renew(box.querySelector(`[data-part="${part.dataset.part}"]`), part);
    for (const control of box.querySelectorAll("[name]")) {
      const wrong = fresh.querySelector(`[name="${CSS.escape(control.name)}"]`)?.getAttribute("aria-invalid");
      if (wrong) control.setAttribute("aria-invalid", wrong);
      else control.removeAttribute("aria-invalid");
    }
    box.dispatchEvent(new Event("parley:entry", { bubbles: true }));
  }
}, true);

function renew(old, part) {
  if (!old) return;
  if ("shape" in part.dataset ? old.dataset.shape === part.dataset.shape : old.innerHTML === part.innerHTML) return;
  // Typed while the request was running.
  for (const control of old.querySelectorAll("[name]")) {
    const same = part.querySelector(`[name="${CSS.escape(control.name)}"]`);
    if (same) same.value = control.value;
  }
  const open = [...old.querySelectorAll("details")].map((one) => one.open);
  old.replaceWith(part);
  part.querySelectorAll("details").forEach((one, place) => (one.open ||= open[place]));
}
