// On a phone, a match's task and what happened so far are two tabs; the one that is not shown is marked if it has news.
"use strict";
{
  const screen = document.getElementById("screen"), list = document.getElementById("tabs");
  const [now, past] = list.children, paneOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));
  const isPhone = matchMedia("(max-width: 40rem)");
  const read = new Map();       // by tab: its pane's words when it was last shown
  const places = new Map();     // by tab: how far the page was scrolled when it was left
  let chosen = now;

  // What counts as news: of the task, what is announced; of the rest, all words, in any order of rows.
  function words(tab) {
    const pane = paneOf(tab), parts = tab === now ? pane.querySelectorAll("[data-announce]") : [pane];
    return [...parts].flatMap((part) => part.textContent.match(/\S+/g) ?? []).sort().join(" ");
  }

  // A new frame replaces the panes with what was set on them, but neither the tabs nor the screen's own attributes.
  function arrange() {
    const isTabbed = isPhone.matches && screen.querySelector(".game:not([data-over]) .pane-past > :not(.nothing)") !== null;
    if (!isTabbed) chosen = now;
    list.hidden = !isTabbed;
    if (isTabbed) screen.dataset.shown = paneOf(chosen).id;
    else delete screen.dataset.shown;
    for (const tab of isTabbed ? [now, past] : []) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen || !read.has(tab)) read.set(tab, words(tab));
      const hasNews = read.get(tab) !== words(tab);
      tab.classList.toggle("news", hasNews);
      tab.firstElementChild.hidden = !hasNews;
    }
    for (const pane of screen.querySelectorAll(".pane-now, .pane-past")) {
      if (isTabbed) pane.setAttribute("role", "tabpanel");
      else pane.removeAttribute("role");
    }
  }

  function choose(tab) {
    if (tab === chosen) return;
    places.set(chosen, scrollY);
    chosen = tab;
    arrange();
    const top = screen.offsetTop - list.parentElement.offsetHeight;
    scrollTo({ top: places.get(tab) ?? Math.min(scrollY, top) });
  }

  list.addEventListener("click", (event) => {
    const tab = event.target.closest("[role=tab]");
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return;
    choose(chosen === now ? past : now);
    chosen.focus();
  });
  // A question, a refusal or a warning is part of the task.
  document.addEventListener("parley:task", () => {
    const wasHere = list.contains(document.activeElement) || paneOf(past)?.contains(document.activeElement);
    places.delete(now);
    choose(now);
    if (wasHere) screen.focus({ preventScroll: true });
  });
  // So is the form that a button of an earlier period fills in.
  document.addEventListener("click", (event) => { if (event.target.closest("[data-copy]")) choose(now); }, true);
  document.addEventListener("parley:screen", arrange);
  isPhone.addEventListener("change", arrange);
}
