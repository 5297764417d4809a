// Refreshes the monitor while it is visible, and shows a notice when it can't.
const SOON = 800;          // minimum milliseconds between two requests
const SHARE = 8;           // a slow server is asked less often
const LOST = 5000;         // without a response for this long, the data count as old
const PATIENCE = 15000;    // time-out of a request

const now = document.getElementById("now");
const age = document.getElementById("age");
let lastUpdateAt = performance.now();
let signedOut = false;

async function poll() {
  const began = performance.now();
  if (!document.hidden) await refresh();
  if (!signedOut) setTimeout(poll, Math.max(SOON, SHARE * (performance.now() - began)));
}

async function refresh() {
  try {
    const answer = await fetch(now.dataset.now, { signal: AbortSignal.timeout(PATIENCE) });
    if (answer.redirected || answer.status === 403 || answer.status === 404) {
      signedOut = true;
      return showNotice(age.dataset.out);
    }
    if (!answer.ok) return;
    const html = await answer.text();
    Idiomorph.morph(now, html, { morphStyle: "innerHTML", ignoreActiveValue: true });
    lastUpdateAt = performance.now();
    showNotice("");
  } catch {
    // Try again next time; meanwhile the page shows how old its data are.
  }
}

function showNotice(words) {
  now.classList.toggle("stale", words !== "");
  if (age.textContent !== words) age.textContent = words;
  age.hidden = words === "";
}

setInterval(() => {
  if (document.hidden || signedOut || performance.now() - lastUpdateAt < LOST) return;
  showNotice(age.dataset.lost.replace("%s", document.getElementById("m-head").dataset.at));
}, 1000);

document.addEventListener("visibilitychange", () => {
  if (document.hidden || signedOut) return;
  lastUpdateAt = performance.now();
  refresh();
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

setTimeout(poll, SOON);
