// Counts down the time for an answer in the game, on pages that the player opens beside the match.
"use strict";
{
  const clock = document.getElementById("clock");
  const ends = Date.now() + Number(clock.dataset.remaining) * 1000;
  const tick = () => {
    const left = Math.max(0, Math.round((ends - Date.now()) / 1000));
    clock.lastElementChild.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    clock.classList.toggle("short", left <= 30);
  };
  clock.hidden = false;
  tick();
  setInterval(tick, 1000);
}
