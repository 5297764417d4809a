// Steps through a match without reloading the page: links, arrow keys, Home and End, and at reading pace.
const viewer = document.getElementById("viewer");
const KEYS = { ArrowLeft: "s-previous", ArrowRight: "s-next", Home: "s-first", End: "s-last" };
let wanted = 0;

async function show(address) {
  const mine = ++wanted;
  try {
    const answer = await fetch(address);
    if (!answer.ok || answer.redirected) return location.reload();
    const html = await answer.text();
    if (mine !== wanted) return false;
    // Until the new screens are loaded, they are as tall as those before, so that the page does not jump.
    const heights = [...viewer.querySelectorAll("iframe")].map((frame) => frame.style.height);
    Idiomorph.morph(viewer, html, { morphStyle: "innerHTML" });
    viewer.querySelectorAll("iframe").forEach((frame, number) => (frame.style.height ||= heights[number] ?? ""));
    return true;
  } catch {
    return false;
  }
}

async function go(link) {
  // Read this before the link changes to the next step.
  const here = link.getAttribute("href"), { step: part } = link.dataset;
  if (await show(part)) history.pushState({ part }, "", here);
}

viewer.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-step]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  setAdvancing(false);
  go(link);
});

document.addEventListener("keydown", (event) => {
  const link = document.getElementById(KEYS[event.key] ?? "");
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || !link?.dataset.step) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  setAdvancing(false);
  go(link);
});

// The button "advance" plays the match at reading pace, and waits for the next step of a live one.
const advance = document.getElementById("advance");
const live = document.getElementById("live");
const AWAIT = 1000;        // milliseconds between two looks for a live match's next step, and for what needs no reading

function setAdvancing(on) {
  if (!advance) return;
  advance.setAttribute("aria-pressed", on);
  advance.textContent = on ? advance.dataset.pause : advance.dataset.play;
}

function tell(words, now) {
  if (live.textContent !== words) live.textContent = words;
  live.toggleAttribute("data-now", now);
}

async function advanceOne() {
  const next = document.getElementById("s-next"), { dataset } = document.getElementById("s-bar");
  const isLive = "live" in dataset, waits = !next.dataset.step;
  tell(isLive ? live.dataset[waits ? "thinking" : "live"] : waits ? live.dataset.over : "", isLive);
  if (document.hidden || advance.getAttribute("aria-pressed") !== "true") return AWAIT;
  if (waits && !isLive) {
    setAdvancing(false);
    return AWAIT;
  }
  await show(waits ? dataset.part : next.dataset.step);
  const { dataset: shown } = document.getElementById("s-bar");
  return waits || !("move" in shown) ? AWAIT : advance.dataset.seconds * 1000;
}

if (advance) {
  advance.hidden = false;
  setAdvancing(advance.getAttribute("aria-pressed") === "true");
  advance.addEventListener("click", () => setAdvancing(advance.getAttribute("aria-pressed") !== "true"));
  const repeat = async () => setTimeout(repeat, await advanceOne());
  repeat();
}

const bar = document.getElementById("s-bar");
if (bar) history.replaceState({ part: bar.dataset.part }, "");
addEventListener("popstate", (event) => event.state?.part && show(event.state.part));

// Make each screen as tall as its content; "load" does not bubble.
const fit = (frame) => {
  const inside = frame.contentDocument?.querySelector("main");
  if (inside) frame.style.height = `${Math.ceil(inside.getBoundingClientRect().height) + 16}px`;
};
viewer.addEventListener("load", (event) => event.target.tagName === "IFRAME" && fit(event.target), true);
addEventListener("resize", () => viewer.querySelectorAll("iframe").forEach(fit));
viewer.querySelectorAll("iframe").forEach((frame) => frame.contentDocument?.readyState === "complete" && fit(frame));
