// Numbers as people type them, read as the server reads them: by the page's language, then in the other notation.
"use strict";

const numbers = (() => {
  const page = new Intl.NumberFormat(document.documentElement.lang || "en").format(1.5).includes(",") ? "," : ".";
  const marks = page === "," ? [",", "."] : [".", ","];
  const TYPED = /^([-+−]?)\s*[$€£]?\s*([-+−]?)\s*((?:\d|[.,]\d).*?)\s*[$€£]?$/;
  const DIGITS = Object.fromEntries(marks.map((mark) => [
    mark, new RegExp(`^(?=.*\\d)(\\d*|[1-9]\\d{0,2}(?:([${mark === "." ? "," : "."} \\u00a0\\u202f'’])\\d{3}(?:\\2\\d{3})*))(?:[${mark}](\\d*))?$`),
  ]));

  // Return the number that is meant, or NaN.
  function read(text) {
    const typed = TYPED.exec(text.trim());
    if (!typed || (typed[1] && typed[2])) return NaN;
    const parts = marks.map((mark) => DIGITS[mark].exec(typed[3])).find(Boolean);
    if (!parts) return Number(typed[3]);
    const value = Number(`${parts[1].replace(/\D/g, "")}.${parts[3] ?? ""}`);
    return /[-−]/.test(typed[1] + typed[2]) ? -value : value;
  }

  // Twelve digits hide floating-point errors such as 0.1 + 0.2; a fourth decimal keeps three from looking like thousands.
  const write = (value) => String(Number(value.toPrecision(12))).replace(/\.\d{3}$/, "$&0").replace(".", page);

  return { read, write };
})();
