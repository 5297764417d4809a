// The theme has no main landmark: screen readers jump to it.
"use strict";
addEventListener("DOMContentLoaded", () => document.getElementById("main")?.setAttribute("role", "main"));
