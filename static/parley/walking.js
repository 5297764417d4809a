// The list of stages beside a walk's page: it follows what happens in the frame, and the walk ends with the page.
const form = document.getElementById("stages");
const rows = document.getElementById("rows");
const list = form.closest("details");
const narrow = matchMedia("(max-width: 56rem)");
const fold = () => { list.open = !narrow.matches; };
narrow.addEventListener("change", fold);
fold();

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(form.dataset.from).catch(() => null);
  if (answer === null) return;
  if (answer.status === 404) return location.reload();
  const html = await answer.text();
  if (!answer.ok || html === shown) return;
  shown = html;
  const focused = document.activeElement?.value;
  rows.innerHTML = html;
  if (focused) rows.querySelector(`button[value="${focused}"]`)?.focus();
}

let shown = null;
document.getElementById("page").addEventListener("load", refresh);
document.addEventListener("visibilitychange", refresh);
setInterval(refresh, 2000);
form.addEventListener("submit", () => form.setAttribute("aria-busy", "true"));
addEventListener("pagehide", () => {
  const data = new FormData();
  data.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
  data.set("closed", "1");
  navigator.sendBeacon(form.dataset.leave, data);
});
