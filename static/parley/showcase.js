// Refreshes what the page says about samples for as long as they are being made.
"use strict";
const offers = document.getElementById("offers");
const EVERY = 3000;        // milliseconds

async function refresh() {
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(EVERY * 3) });
    const fresh = answer.ok && new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("offers");
    if (fresh && !offers.contains(document.activeElement)) offers.replaceChildren(...fresh.children);
  } catch {
    // Try again next time.
  }
  soon();
}

function soon() {
  if (offers?.querySelector("[data-pending]")) setTimeout(refresh, EVERY);
}
soon();
