// A second click on the button of a page sends nothing while the first one is on its way.
"use strict";
{
  const TWICE_WITHIN = 3000;
  const sent = new WeakMap();
  document.addEventListener("submit", (event) => {
    if (Date.now() - (sent.get(event.target) ?? 0) < TWICE_WITHIN) event.preventDefault();
    else sent.set(event.target, Date.now());
  });
}
