// The panel with questions to the researchers and their messages, on every page of a participant.
// Messages arrive with "parley:message" on pages with a socket; every page also asks now and then.
"use strict";
{
  const panel = document.getElementById("help");
  // Milliseconds between two requests: more often while a question is open, less where a socket says what is new.
  const QUIET = document.getElementById("screen") ? 120000 : 30000, OPEN = 5000;
  const title = panel.querySelector("h2"), list = panel.querySelector("[data-list]"), form = panel.querySelector("form");
  const newest = () => Number(list.querySelector("ol").dataset.newest);
  let timer = 0, firstNew = 0;           // the first new message while the panel shows only what is new

  // Show what is new, or everything with the form for a question: news should hide little of the page.
  function show() {
    title.textContent = title.dataset[firstNew ? "new" : "title"];
    panel.hidden = false;
    for (const button of panel.querySelectorAll("header [data-ask]")) button.hidden = !firstNew;
    if (form) form.hidden = Boolean(firstNew);
    for (const item of list.querySelectorAll("li")) item.hidden = item.value < firstNew;
    for (const time of list.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleTimeString([], { timeStyle: "short" });
    list.lastElementChild.scrollIntoView({ block: "nearest" });
  }

  function follow() {
    const unread = list.querySelector("[data-unread]");
    if (unread && (panel.hidden || firstNew)) firstNew ||= unread.value;
    if (unread || !panel.hidden) show();
  }

  async function load(url, options) {
    const response = await fetch(url, { cache: "no-store", headers: { "X-Parley-Panel": "1" }, ...options });
    if (!response.ok || response.redirected) return false;
    list.innerHTML = await response.text();
    follow();
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
  panel.querySelector("[data-close]").addEventListener("click", () => {
    refresh();
    panel.hidden = true;
    firstNew = 0;
  });
  for (const link of document.querySelectorAll("[data-ask]")) link.addEventListener("click", (event) => {
    event.preventDefault();
    firstNew = 0;
    show();
    refresh();
    form.elements.text.focus();
  });
  form?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      if (await load(panel.dataset.to, { method: "POST", body: new URLSearchParams(new FormData(form)) })) form.reset();
      show();
    } catch {
      form.submit();      // the browser says why our server is not reached, and keeps the text
    }
    button.disabled = false;
    refresh();
  });
  document.addEventListener("parley:message", refresh);
  document.addEventListener("visibilitychange", refresh);
  if (list.querySelector("[data-unread]")) firstNew = list.querySelector("[data-unread]").value;
  follow();
  timer = setTimeout(refresh, list.querySelector("[data-open], [data-unread]") ? OPEN : QUIET);
}
