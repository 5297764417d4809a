// Add the main landmark that the theme lacks, for screen readers.
"use strict";
addEventListener("DOMContentLoaded", () => document.getElementById("main")?.setAttribute("role", "main"));
