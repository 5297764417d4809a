// The choices by keyboard: 1, 2 and the arrows go to a choice, Enter takes it. While typing elsewhere they do nothing.
"use strict";
{
  const STEPS = { ArrowLeft: -1, ArrowRight: 1 };
  document.getElementById("screen")?.addEventListener("keydown", (event) => {
    const choices = [...document.querySelectorAll("#screen .choices > button")], at = choices.indexOf(event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, textarea, select")) return;
    const step = STEPS[event.key], place = step ? (at < 0 ? (step < 0 ? 0 : choices.length - 1) : at + step) : Number(event.key) - 1;
    if (!choices[place]) return;
    event.preventDefault();
    choices[place].focus();
  });
}
