// Counts how a page is used: how long it is open and visible, how often it is hidden or loses focus, how often and
// how much is pasted (never what). Counters only grow, so sending them twice or out of order is harmless. They are
// not shown, and nothing depends on them.
"use strict";

{
  const script = document.currentScript;
  const SOON = 15000, AT_TIMES = 300000;
  const view = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => (byte % 36).toString(36)).join("");
  const began = performance.now();
  let visible = 0;
  let since = document.hidden ? null : began;   // when it last became visible
  let hidden = 0, blurred = 0, pastes = 0, pasted = 0;
  let sent = "";
  let planned = null;

  function counted() {
    const now = performance.now();
    const seen = visible + (since === null ? 0 : now - since);
    const open = Math.round(now - began);
    return {
      view, position: Number(script.dataset.position), open_ms: open, visible_ms: Math.min(open, Math.round(seen)),
      hidden, blurred, pastes, pasted,
    };
  }

  function send() {
    clearTimeout(planned);
    planned = null;
    const body = JSON.stringify(counted());
    if (body === sent) return;
    sent = body;
    if (navigator.sendBeacon?.(script.dataset.to, body)) return;
    fetch(script.dataset.to, { method: "POST", body, keepalive: true, credentials: "omit" }).catch(() => {});
  }

  // Send several changes together.
  function sendSoon() {
    planned ??= setTimeout(send, SOON);
  }

  document.addEventListener("visibilitychange", () => {
    const now = performance.now();
    if (document.hidden) {
      if (since !== null) visible += now - since;
      since = null;
      hidden += 1;
      send();   // on a phone this may be the page's last event
    } else since ??= now;
  });
  window.addEventListener("blur", () => {
    setTimeout(() => {
      if (document.hidden || document.hasFocus()) return;
      blurred += 1;
      sendSoon();
    });
  });
  document.addEventListener("paste", (event) => {
    if (!event.target.closest?.("textarea, input")) return;
    pastes += 1;
    pasted += event.clipboardData?.getData("text/plain").length ?? 0;
    sendSoon();
  }, true);
  window.addEventListener("pagehide", send);
  setInterval(send, AT_TIMES);
}
