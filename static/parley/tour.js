// Escape inside the tour's bar leaves the tour, as the button does.
"use strict";
const tour = document.querySelector(".tour");
tour?.addEventListener("keydown", (event) => {
  if (event.key === "Escape") tour.querySelector("[data-leave]").requestSubmit();
});
