// Tells researchers on a study's monitor of new questions, by the page's title and, if they want, a sound; and opens the
// form in which they write. Uses `now` and `refresh` of monitor.js.
{
  const HIDDEN = 10000;       // milliseconds between two requests while the page is hidden
  const CHOICE = "parley ring";
  const title = document.title, sound = document.getElementById("ring"), dialog = document.getElementById("write");
  const questions = () => document.getElementById("m-questions").dataset;
  let heard = Number(questions().newest), audio = null;

  const tone = (frequency, start) => {
    const wave = audio.createOscillator(), volume = audio.createGain();
    wave.frequency.value = frequency;
    volume.gain.setValueAtTime(0.2, audio.currentTime + start);
    volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + start + 0.4);
    wave.connect(volume).connect(audio.destination);
    wave.start(audio.currentTime + start);
    wave.stop(audio.currentTime + start + 0.4);
  };
  const ring = () => {
    audio ??= new AudioContext();
    tone(880, 0);
    tone(660, 0.25);
  };

  const look = () => {
    const { open, newest } = questions();
    document.title = open === "0" ? title : `(${open}) ${title}`;
    if (Number(newest) > heard && sound.checked) ring();
    heard = Math.max(heard, Number(newest));
  };
  sound.checked = localStorage.getItem(CHOICE) === "on";
  sound.addEventListener("change", () => {
    localStorage.setItem(CHOICE, sound.checked ? "on" : "off");
    if (sound.checked) ring();
  });
  new MutationObserver(look).observe(now, { subtree: true, childList: true, attributes: true, attributeFilter: ["data-newest", "data-open"] });
  look();
  setInterval(() => { if (document.hidden) refresh(); }, HIDDEN);

  if (dialog) {
    const open = (to, whom, asked = "") => {
      const about = document.getElementById("write-about");
      document.getElementById("write-to").value = to;
      document.getElementById("write-title").textContent = whom;
      about.hidden = !asked;
      about.textContent = asked;
      dialog.showModal();
      document.getElementById("write-text").focus();
    };
    now.addEventListener("click", (event) => {
      const link = event.target.closest("[data-write]");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open(link.dataset.write, link.dataset.whom, link.closest("li")?.querySelector("blockquote").innerText);
    });
    const person = new URLSearchParams(location.search).get("write");     // from a participant's page
    if (person) open(`person:${person}`, dialog.dataset.person);
    document.getElementById("write-cancel").addEventListener("click", () => dialog.close());
  }
}
