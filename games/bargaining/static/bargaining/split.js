// Dividing money: a slider and two number fields that always add up to the money.
"use strict";
{
  const parts = (box) => {
    const own = box.querySelector(`[name="${box.dataset.own}"]`);
    const other = [...box.querySelectorAll("input[name]")].find((field) => field !== own);
    return { own, other, slider: box.querySelector("input[type=range]"), worth: box.querySelector(".worth"), money: Number(box.dataset.money) };
  };
  const { read, write } = numbers;
  // The slider moves in round amounts: about two hundred steps from end to end.
  const stepOf = (money) => 10 ** Math.floor(Math.log10(money / 100));

  const shown = (box, amount) => box.dataset.unit.replace("AMOUNT", amount.toLocaleString(document.documentElement.lang, { useGrouping: "always", maximumFractionDigits: 2, minimumFractionDigits: box.dataset.unit.startsWith("$") && amount % 1 ? 2 : 0 }));
  const promise = (box, payoff) => box.dispatchEvent(new CustomEvent("parley:payoff", { bubbles: true, detail: payoff }));

  function tell(box, own) {
    const { worth } = parts(box);
    worth.hidden = !Number.isFinite(own);
    const now = own * Number(box.dataset.stake) / Number(box.dataset.money);
    promise(box, now);
    if (worth.hidden) return;
    worth.querySelector("output").textContent = shown(box, now);
  }

  function set(box, own, from) {
    const { own: mine, other, slider, money } = parts(box);
    if (!Number.isFinite(own)) return tell(box, NaN);
    const kept = Math.min(Math.max(own, 0), money);
    if (from !== mine) mine.value = write(kept);
    if (from !== other) other.value = write(money - kept);
    if (from !== slider) slider.value = kept;
    slider.classList.remove("untouched");
    slider.setAttribute("aria-valuetext", shown(box, kept));
    tell(box, kept);
  }

  document.addEventListener("input", (event) => {
    const box = event.target.closest("[data-split]");
    if (!box) return;
    const { own, other, slider, money } = parts(box);
    if (event.target === slider) {
      const step = stepOf(money);
      set(box, Math.min(Math.round(Number(slider.value) / step) * step, money), slider);
    } else if (event.target === own) set(box, read(own.value), own);
    else if (event.target === other) set(box, money - read(other.value), other);
  });

  function begin() {
    for (const box of document.querySelectorAll("[data-split]")) {
      const { own, slider, money } = parts(box);
      slider.hidden = false;
      if (own.value === "") slider.value = money / 2;
      else set(box, read(own.value), own);
    }
  }
  document.addEventListener("parley:screen", begin);
  begin();
}
