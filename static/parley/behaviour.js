// Records how a page is used: typing rhythm (times only, never keys), text that appears without typing, a summary
// of pointer movement, and a field that only programs fill in. Per page and per turn of a game.
// Counters only grow, so sending them twice or out of order is harmless. Nothing depends on them.
"use strict";

{
  const script = document.currentScript;
  const SOON = 15000, PAUSE = 2000, JUST = 1000, PARTS = 8, FEW = 3, NEAR = 1.5, WIDE = 40, HIGH = 16;
  const FIELDS = "textarea, input:not([type]), input[type=text], input[type=number], input[type=search]";
  const TARGETS = "button, a, label, summary, textarea, input, select";
  const view = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => (byte % 36).toString(36)).join("");
  const trap = document.getElementById("helper");
  const parts = new Map();
  const lengths = new WeakMap();   // last known lengths of the fields' contents
  let keyAt = -Infinity, keyIn = null, composing = false;
  let moves = 0, x = null, y = null;
  let planned = null;

  // The game's open turn; empty on other pages.
  function part() {
    const form = document.querySelector("#screen form.move input[name=answering]");
    const key = form?.value ?? "";
    if (!parts.has(key)) {
      const shown = document.getElementById(form ? "screen" : "main");
      const words = shown.textContent.trim().split(/\s+/).length;
      parts.set(key, { began: performance.now(), sent: "", figures: {
        words, answered_ms: 0, keys: 0, intervals: 0, interval_ms: 0, interval_sq: 0, typed: 0, untyped: 0, pasted: 0,
        clicks: 0, jumps: 0, wide: 0, centred: 0, travel: 0, touches: 0, keyboard: 0, untrusted: 0, trapped: 0,
      } });
    }
    return parts.get(key);
  }

  const figures = () => part().figures;

  function send() {
    clearTimeout(planned);
    planned = null;
    if (trap?.value) figures().trapped = 1;
    const news = {};
    for (const [key, one] of [...parts].reverse()) {
      const now = JSON.stringify(one.figures);
      if (now === one.sent) continue;
      one.sent = now;
      news[key] = one.figures;
      if (Object.keys(news).length === PARTS) break;
    }
    if (!Object.keys(news).length) return;
    const body = JSON.stringify({ view, position: Number(script.dataset.position), parts: news });
    if (navigator.sendBeacon?.(script.dataset.to, body)) return;
    fetch(script.dataset.to, { method: "POST", body, keepalive: true, credentials: "omit" }).catch(() => {});
  }

  function sendSoon() {
    planned ??= setTimeout(send, SOON);
  }

  function heard(kind, react) {
    document.addEventListener(kind, (event) => { react(event); sendSoon(); }, { capture: true, passive: true });
  }

  // A chat and questions to the researchers answer nothing.
  const field = (event) => !event.target.closest?.("#chat, #help") && event.target.closest?.(FIELDS);

  heard("keydown", (event) => {
    if (!field(event) || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = performance.now(), since = Math.round(now - keyAt), count = figures();
    count.keys += 1;
    if (keyIn === event.target && since < PAUSE) {
      count.intervals += 1;
      count.interval_ms += since;
      count.interval_sq += since * since;
    }
    [keyAt, keyIn] = [now, event.target];
  });
  heard("compositionstart", () => { composing = true; });
  heard("compositionend", (event) => { composing = false; [keyAt, keyIn] = [performance.now(), event.target]; });
  heard("focusin", (event) => {
    if (field(event) && !lengths.has(event.target)) lengths.set(event.target, event.target.value.length);
  });
  heard("input", (event) => {
    if (event.target === trap) figures().trapped = 1;
    if (!field(event)) return;
    const length = event.target.value.length, count = figures();
    const more = Math.max(0, length - (lengths.get(event.target) ?? 0));
    lengths.set(event.target, length);
    if (!event.isTrusted) count.untrusted += 1;
    if (/^insertFrom(Paste|Drop)/.test(event.inputType ?? "")) count.pasted += more;
    else if (event.isTrusted && (composing || (keyIn === event.target && performance.now() - keyAt < JUST))) count.typed += more;
    else count.untyped += more;
  });
  heard("pointermove", (event) => {
    if (event.pointerType !== "mouse" || !event.isTrusted) return;
    moves += 1;
    if (x !== null) figures().travel += Math.round(Math.hypot(event.clientX - x, event.clientY - y));
    [x, y] = [event.clientX, event.clientY];
  });
  heard("click", (event) => {
    const count = figures();
    if (!event.isTrusted) count.untrusted += 1;
    else if (event.detail === 0) count.keyboard += 1;
    else if (event.pointerType === "touch" || event.pointerType === "pen") count.touches += 1;
    else {
      count.clicks += 1;
      if (moves < FEW) count.jumps += 1;
      const box = (event.target.closest(TARGETS) ?? event.target).getBoundingClientRect();
      if (box.width >= WIDE && box.height >= HIGH) {
        count.wide += 1;
        const off = [event.clientX - box.left - box.width / 2, event.clientY - box.top - box.height / 2];
        if (off.every((by) => Math.abs(by) <= NEAR)) count.centred += 1;
      }
      moves = 0;
    }
  });
  heard("submit", () => {
    const one = part();
    one.figures.answered_ms = Math.max(one.figures.answered_ms, Math.round(performance.now() - one.began));
    if (trap?.value) one.figures.trapped = 1;
  });
  document.addEventListener("visibilitychange", () => { if (document.hidden) send(); });
  window.addEventListener("pagehide", send);
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", part);
  else part();
}
