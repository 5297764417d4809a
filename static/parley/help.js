// The panel with questions to the researchers and their messages, on every page of a participant. It is empty until it is
// needed. Messages arrive with "parley:message" on pages with a socket; every page also asks now and then.
"use strict";
{
  const panel = document.getElementById("help"), to = panel.dataset.to;
  // Milliseconds between two requests: more often while a question is open, less where a socket says what is new.
  const QUIET = document.getElementById("screen") ? 120000 : 30000, OPEN = 5000;
  const find = (selector) => panel.querySelector(selector);
  let timer = 0, firstNew = 0;           // the first new message while the panel shows only what is new

  // Show what is new, or everything with the form for a question: news should hide little of the page.
  function show() {
    const title = find("h2"), form = find("form"), reply = find("header [data-ask]");
    title.textContent = title.dataset[firstNew ? "new" : "title"];
    panel.hidden = find("[data-close]").hidden = false;
    if (reply) reply.hidden = !firstNew;
    if (form) form.hidden = Boolean(firstNew);
    for (const item of panel.querySelectorAll("li")) item.hidden = item.value < firstNew;
    for (const time of panel.querySelectorAll("time")) time.textContent = new Date(time.dateTime).toLocaleTimeString([], { timeStyle: "short" });
    find("[data-list]").lastElementChild.scrollIntoView({ block: "nearest" });
  }

  async function html(url, options) {
    const response = await fetch(url, { cache: "no-store", headers: { "X-Parley-Panel": "1" }, ...options });
    if (!response.ok || response.redirected) throw response;
    return response.text();
  }

  async function fill() {
    if (!find("h2")) panel.innerHTML = await html(to);
  }

  function follow() {
    const unread = find("[data-unread]");
    if (unread && (panel.hidden || firstNew)) firstNew ||= unread.value;
    if (unread || !panel.hidden) show();
  }

  // What the panel shows on a visible page counts as read.
  async function refresh() {
    clearTimeout(timer);
    const newest = find("ol")?.dataset.newest, seen = panel.hidden || document.hidden ? "" : `?seen=${newest}`;
    try {
      if (!document.hidden) {
        const list = await html(`${to}list${seen}`);
        if (find("h2")) find("[data-list]").innerHTML = list;
        else if (list.includes("data-unread")) await fill();
        follow();
      }
    } catch {
      // The next request may arrive.
    }
    plan();
  }

  function plan() {
    clearTimeout(timer);
    timer = setTimeout(refresh, find("[data-open], [data-unread]") ? OPEN : QUIET);
  }

  async function ask(event, link) {
    event.preventDefault();
    try {
      await fill();
    } catch {
      return location.assign(link.href);      // the browser says why our server is not reached
    }
    firstNew = 0;
    show();
    find("textarea").focus();
  }

  document.querySelector("footer").before(panel);      // where it stays in sight at the bottom of the screen
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-ask]");
    if (link) ask(event, link);
    if (!event.target.closest("#help [data-close]")) return;
    refresh();
    panel.hidden = true;
    firstNew = 0;
  });
  panel.addEventListener("submit", async (event) => {
    event.preventDefault();
    const form = event.target, button = form.querySelector("button");
    button.disabled = true;
    try {
      find("[data-list]").innerHTML = await html(to, { method: "POST", body: new URLSearchParams(new FormData(form)) });
      if (!find("[role=alert]")) form.reset();
      show();
    } catch {
      form.submit();
    }
    button.disabled = false;
    plan();
  });
  document.addEventListener("parley:message", refresh);
  document.addEventListener("visibilitychange", refresh);
  follow();
  plan();
}
