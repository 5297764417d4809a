// Counts down the time for an answer in the game, on pages that the player opens beside the match.
"use strict";
{
  const HERE = 4000;
  const clock = document.getElementById("clock");
  const match = location.pathname.split("/").slice(0, 3).join("/") + "/match";
  let held = 0, ends = 0;   // until when a question pauses the clock at most, and when the time is up
  const set = (remaining, pause) => {
    held = Date.now() + pause * 1000;
    ends = held + remaining * 1000;
  };
  set(Number(clock.dataset.remaining), Number(clock.dataset.held));
  const tick = () => {
    const left = Math.max(0, Math.round((ends - Math.max(held, Date.now())) / 1000));
    clock.lastElementChild.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    clock.classList.toggle("short", left <= 30);
  };
  // The match's own page is closed meanwhile: this one tells the server that the player is here.
  const call = async () => {
    try {
      const response = await fetch(match, { headers: { Accept: "application/json" }, cache: "no-store" });
      const { remaining, held } = await response.json();
      if (response.ok && remaining !== null) set(remaining, held);
    } catch {
      // The next call may arrive.
    }
  };
  clock.hidden = false;
  tick();
  setInterval(tick, 1000);
  setInterval(call, HERE);
}
