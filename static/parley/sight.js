// How long each part of the game's screen has been in sight since the question was shown; sent with the answer.
"use strict";

const sight = (() => {
  const HALF = 0.5, STEPS = [0, 0.25, HALF, 0.75, 1];
  let spent = {};             // milliseconds, by the key of a block
  const since = new Map();    // when the parts in sight came into sight, by key
  const partly = new Set();   // keys of the parts in sight, whether or not the page is

  // A part that is larger than the window is in sight when it fills half of it.
  const isSeen = (entry) => entry.intersectionRatio >= HALF || entry.intersectionRect.height >= HALF * window.innerHeight;

  function stop(key) {
    if (since.has(key)) spent[key] = (spent[key] ?? 0) + performance.now() - since.get(key);
    since.delete(key);
  }

  function follow(key) {
    if (partly.has(key) && !document.hidden) {
      if (!since.has(key)) since.set(key, performance.now());
    } else stop(key);
  }

  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const key = entry.target.dataset.block;
      if (isSeen(entry)) partly.add(key);
      else partly.delete(key);
      follow(key);
    }
  }, { threshold: STEPS });

  function observe() {
    observer.disconnect();
    const blocks = [...document.querySelectorAll("#screen [data-block]")], keys = new Set(blocks.map((block) => block.dataset.block));
    for (const key of partly) {
      if (!keys.has(key)) partly.delete(key);
      follow(key);
    }
    for (const block of blocks) observer.observe(block);
  }

  document.addEventListener("visibilitychange", () => partly.forEach(follow));
  document.addEventListener("parley:screen", observe);

  return {
    // Milliseconds by block, as JSON, so far.
    taken() {
      for (const key of [...since.keys()]) stop(key);
      partly.forEach(follow);
      return JSON.stringify(Object.fromEntries(Object.entries(spent).map(([key, time]) => [key, Math.round(time)])));
    },
    // A new question: count from nothing.
    begin() {
      since.clear();
      spent = {};
      partly.forEach(follow);
    },
  };
})();
