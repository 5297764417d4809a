// How long each part of the game's screen has been in sight since the question was shown; sent with the answer.
"use strict";

const sight = (() => {
  const HALF = 0.5;
  let spent = {};             // milliseconds, by the key of a part
  const since = new Map();    // when the parts in sight came into sight
  const inside = new Set();   // the parts inside the window, whether or not the page is in sight; two may have one key

  // Count the time so far, and go on counting what is in sight.
  function count() {
    const now = performance.now();
    for (const [key, start] of since) spent[key] = (spent[key] ?? 0) + now - start;
    since.clear();
    if (!document.hidden) for (const { dataset } of inside) since.set(dataset.block, now);
  }

  // At least half of the part is inside the window, or it fills half of the window.
  function note(entries) {
    for (const { target, isIntersecting, intersectionRatio, intersectionRect, rootBounds } of entries) {
      const least = HALF * (rootBounds?.height ?? window.innerHeight);
      const isInside = isIntersecting && (intersectionRatio >= HALF || intersectionRect.height >= least);
      inside[isInside ? "add" : "delete"](target);
    }
    count();
  }

  // The window ends where bars cover it: clock and bonus above, the answers below. In another site's frame, browsers ignore this.
  const heightOf = (bar) => bar && getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0;
  let observer = null;

  function observe() {
    count();
    observer?.disconnect();
    inside.clear();
    const [strip, bonus, answers] = [".strip", ".bonus-now", ".answers"].map((bar) => heightOf(document.querySelector(bar)));
    observer = new IntersectionObserver(note, { rootMargin: `-${strip + bonus}px 0px -${answers}px`, threshold: [0, 0.25, HALF, 0.75, 1] });
    for (const part of document.querySelectorAll("#screen [data-block]")) observer.observe(part);
  }

  document.addEventListener("visibilitychange", count);
  document.addEventListener("parley:screen", observe);
  window.addEventListener("resize", observe);

  return {
    begin: () => { count(); spent = {}; },
    taken: () => { count(); return JSON.stringify(spent, (key, value) => key ? Math.round(value) : value); },
  };
})();
