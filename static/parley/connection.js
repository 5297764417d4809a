// Whether this page reaches our server and, if not, why, as far as a page can know. For pages with a socket.
//
//   connection.failure          "" (reached), or why not: "offline" (this device has no network), "server" (our server is down,
//                               as the proxy in front of it says) or "unknown" (no answer; no page can know whose fault it is)
//   connection.fetch(url, options)    fetch that notes the outcome and gives up after a while; throws if our server did not answer
//   connection.reached()        to be called for every message of a socket
//   connection.reachedAt        when our server was last reached, as by Date.now()
//
// "parley:connection" is dispatched on the document when the failure changes. A closed socket says nothing about
// the reason: fetch something to find out.
"use strict";

const connection = {
  PATIENCE: 8000,
  DOWN: [502, 503, 504],
  failure: "",
  reachedAt: Date.now(),

  async fetch(url, options) {
    try {
      const response = await fetch(url, { cache: "no-store", ...options, signal: AbortSignal.timeout(this.PATIENCE) });
      if (response.status >= 500) throw response;
      this.reached();
      return response;
    } catch (error) {
      this.note(navigator.onLine === false ? "offline" : this.DOWN.includes(error.status) ? "server" : "unknown");
      throw error;
    }
  },

  reached() {
    this.reachedAt = Date.now();
    this.note("");
  },

  note(failure) {
    if (failure === this.failure) return;
    this.failure = failure;
    document.dispatchEvent(new CustomEvent("parley:connection"));
  },
};

window.addEventListener("offline", () => connection.note("offline"));
window.addEventListener("online", () => { if (connection.failure === "offline") connection.note(""); });
