// The seller's message: how many characters are left to write.
"use strict";
{
  const tell = (area) => {
    const place = document.getElementById(area.dataset.counted);
    const left = area.maxLength - area.value.length;
    if (place) place.textContent = place.dataset.words.replace("COUNT", left.toLocaleString("en-US"));
  };
  document.addEventListener("input", (event) => {
    if (event.target.matches("textarea[data-counted]")) tell(event.target);
  });
  const begin = () => document.querySelectorAll("textarea[data-counted]").forEach(tell);
  document.addEventListener("parley:screen", begin);
  begin();
}
