// Refreshes a watched match while it is live and visible. The page only reads.
const SOON = 1000;         // minimum milliseconds between two requests
const SHARE = 8;           // a slow server is asked less often
const LOST = 5000;         // without a response for this long, the page counts as old
const PATIENCE = 15000;    // time-out of a request

const watched = document.getElementById("watched");
const age = document.getElementById("age");
const shown = () => document.getElementById("w-public").dataset;
let lastUpdateAt = performance.now(), out = false;

async function poll() {
  const began = performance.now();
  if (!document.hidden) await refresh();
  if (!out && "live" in shown()) setTimeout(poll, Math.max(SOON, SHARE * (performance.now() - began)));
}

async function refresh() {
  try {
    const answer = await fetch(`${watched.dataset.now}?seen=${shown().version}`, { signal: AbortSignal.timeout(PATIENCE) });
    if (answer.redirected || answer.status === 403 || answer.status === 404) {
      out = true;
      return showNotice(age.dataset.out);
    }
    if (!answer.ok) return;
    if (answer.status === 200) show(await answer.text());
    lastUpdateAt = performance.now();
    showNotice("");
  } catch {
    // Try again next time.
  }
}

function show(html) {
  const open = document.getElementById("w-seats")?.open;
  const beforeAttributeUpdated = (name, element) => !(name === "open" && element.tagName === "DETAILS");
  Idiomorph.morph(watched, html, { morphStyle: "innerHTML", callbacks: { beforeAttributeUpdated } });
  if (open !== undefined) document.getElementById("w-seats").open = open;
}

function showNotice(words) {
  if (age.textContent !== words) age.textContent = words;
  age.hidden = words === "";
}

setInterval(() => {
  if (!document.hidden && !out && "live" in shown() && performance.now() - lastUpdateAt > LOST) showNotice(age.dataset.lost);
}, 1000);

// Make each screen as tall as its content; "load" does not bubble.
const fit = (frame) => {
  const inside = frame.contentDocument?.querySelector("main");
  if (inside) frame.style.height = `${Math.ceil(inside.getBoundingClientRect().height) + 16}px`;
};
watched.addEventListener("load", (event) => event.target.tagName === "IFRAME" && fit(event.target), true);
watched.addEventListener("toggle", () => watched.querySelectorAll("iframe").forEach(fit), true);
addEventListener("resize", () => watched.querySelectorAll("iframe").forEach(fit));
setTimeout(poll, SOON);
