// The panel with questions to the researchers and their messages, on every page of a participant.
// Messages arrive with "parley:message" on pages with a socket; every page also asks now and then.
"use strict";
{
  const panel = document.getElementById("help");
  const QUIET = 30000, OPEN = 5000;      // milliseconds between two requests; more often while a question is open
  const title = panel.querySelector("h2"), list = panel.querySelector("[data-list]"), form = panel.querySelector("form");
  const newest = () => Number(list.querySelector("ol").dataset.newest);
  let timer = 0;

  function show(isNew) {
    title.textContent = title.dataset[isNew ? "new" : "title"];
    panel.hidden = false;
    list.lastElementChild.scrollIntoView({ block: "nearest" });
  }

  async function load(url, options) {
    const response = await fetch(url, { cache: "no-store", headers: { "X-Parley-Panel": "1" }, ...options });
    if (!response.ok || response.redirected) return false;
    list.innerHTML = await response.text();
    if (list.querySelector("[data-unread]")) show(true);
    return !list.querySelector("[role=alert]");
  }

  // What the panel shows on a visible page counts as read.
  async function refresh() {
    clearTimeout(timer);
    const seen = panel.hidden || document.hidden ? "" : `?seen=${newest()}`;
    try {
      if (!document.hidden) await load(`${panel.dataset.to}list${seen}`);
    } catch {
      // The next request may arrive.
    }
    timer = setTimeout(refresh, list.querySelector("[data-open], [data-unread]") ? OPEN : QUIET);
  }

  document.querySelector("footer").before(panel);      // where it stays in sight at the bottom of the screen
  panel.querySelector("[data-close]").hidden = false;
  panel.querySelector("[data-close]").addEventListener("click", () => { refresh(); panel.hidden = true; });
  for (const link of document.querySelectorAll("[data-ask]")) link.addEventListener("click", (event) => {
    event.preventDefault();
    show(false);
    form.elements.text.focus();
  });
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      if (await load(panel.dataset.to, { method: "POST", body: new URLSearchParams(new FormData(form)) })) form.reset();
      show(false);
    } catch {
      form.submit();      // the browser says why our server is not reached, and keeps the text
    }
    button.disabled = false;
    refresh();
  });
  document.addEventListener("parley:message", refresh);
  document.addEventListener("visibilitychange", refresh);
  timer = setTimeout(refresh, list.querySelector("[data-open], [data-unread]") ? OPEN : QUIET);
}
