// How long each part of the game's screen has been in sight since the question was shown; sent with the answer.
"use strict";

const sight = (() => {
  const HALF = 0.5;
  let spent = {};             // milliseconds, by the key of a part
  const since = new Map();    // when the parts in sight came into sight
  const inside = new Set();   // the parts inside the window, whether or not the page is in sight

  // Count the time so far, and go on counting what is in sight.
  function count() {
    const now = performance.now();
    for (const [key, start] of since) spent[key] = (spent[key] ?? 0) + now - start;
    since.clear();
    if (!document.hidden) for (const key of inside) since.set(key, now);
  }

  // At least half of the part is inside the window, or it fills half of the window.
  const observer = new IntersectionObserver((entries) => {
    for (const { target, intersectionRatio, intersectionRect } of entries) {
      const isInside = intersectionRatio >= HALF || intersectionRect.height >= HALF * window.innerHeight;
      inside[isInside ? "add" : "delete"](target.dataset.block);
    }
    count();
  }, { threshold: [0, 0.25, HALF, 0.75, 1] });

  document.addEventListener("visibilitychange", count);
  document.addEventListener("parley:screen", () => {
    count();
    observer.disconnect();
    inside.clear();
    for (const part of document.querySelectorAll("#screen [data-block]")) observer.observe(part);
  });

  return {
    begin: () => { count(); spent = {}; },
    taken: () => { count(); return JSON.stringify(spent, (key, value) => key ? Math.round(value) : value); },
  };
})();
