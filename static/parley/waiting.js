// A page that stays for a while: its button works once the time is over. The server counts too.
"use strict";
{
  const line = document.querySelector("[data-wait]");
  const button = line.closest("form").querySelector("button");
  const until = performance.now() + 1000 * Number(line.dataset.wait);
  const tick = () => {
    const left = Math.ceil((until - performance.now()) / 1000);
    button.disabled = left > 0;
    line.textContent = left > 0 ? line.dataset.words.replace("{left}", left) : line.dataset.done;
    if (left > 0) setTimeout(tick, 250);
    else line.setAttribute("role", "status");
  };
  tick();
}
