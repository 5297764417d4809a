// Refreshes the monitor while it is visible, and shows a notice when it can't.
const SOON = 800;          // minimum milliseconds between two requests
const SHARE = 8;           // a slow server is asked less often
const LOST = 5000;         // without a response for this long, the data count as old
const PATIENCE = 15000;    // time-out of a request

const now = document.getElementById("now");
const age = document.getElementById("age");
let heard = performance.now();
let signedOut = false;

async function look() {
  const began = performance.now();
  if (!document.hidden) await renew();
  if (!signedOut) setTimeout(look, Math.max(SOON, SHARE * (performance.now() - began)));
}

async function renew() {
  try {
    const answer = await fetch(now.dataset.now, { signal: AbortSignal.timeout(PATIENCE) });
    if (answer.redirected || answer.status === 403 || answer.status === 404) {
      signedOut = true;
      return say(age.dataset.out);
    }
    if (!answer.ok) return;
    const html = await answer.text();
    Idiomorph.morph(now, html, { morphStyle: "innerHTML", ignoreActiveValue: true });
    heard = performance.now();
    say("");
  } catch {
    // Try again next time; meanwhile the page shows how old its data are.
  }
}

function say(words) {
  now.classList.toggle("stale", words !== "");
  if (age.textContent !== words) age.textContent = words;
  age.hidden = words === "";
}

setInterval(() => {
  if (document.hidden || signedOut || performance.now() - heard < LOST) return;
  say(age.dataset.lost.replace("%s", document.getElementById("m-head").dataset.at));
}, 1000);

document.addEventListener("visibilitychange", () => {
  if (document.hidden || signedOut) return;
  heard = performance.now();
  renew();
});

const dialog = document.getElementById("end");
if (dialog) {
  now.addEventListener("click", (event) => {
    const link = event.target.closest("[data-end]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    document.getElementById("end-match").value = link.dataset.end;
    document.getElementById("end-uid").textContent = link.dataset.uid;
    dialog.showModal();
    document.getElementById("end-reason").focus();
  });
  document.getElementById("end-cancel").addEventListener("click", () => dialog.close());
}

setTimeout(look, SOON);
