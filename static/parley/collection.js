// A collection's page keeps itself up to date while matches are played; its form says how many there would be.
const EVERY = 2000;

const progress = document.querySelector("[data-progress]");
if (progress) follow();

function follow() {
  const status = () => progress.querySelector("[data-status]");
  if (!("alive" in status().dataset)) return;
  setTimeout(async () => {
    if (!document.hidden) await refresh(status().dataset.status);
    follow();
  }, EVERY);
}

async function refresh(status) {
  try {
    const answer = await fetch(progress.dataset.progress);
    if (answer.redirected || answer.status === 403) return location.reload();
    if (!answer.ok) return;
    const fresh = document.createElement("div");
    fresh.innerHTML = await answer.text();
    if (progress.contains(document.activeElement)) keepFocus(fresh);
    else progress.replaceChildren(...fresh.childNodes);
    // Other buttons belong to another status.
    if (progress.querySelector("[data-status]").dataset.status !== status) location.reload();
  } catch {
    // Offline, or the server is being started again: the next time may do better.
  }
}

// Whoever stands on a link with the keyboard keeps it: only the parts without it are renewed.
function keepFocus(fresh) {
  const old = [...progress.children];
  const parts = [...fresh.children];
  if (old.length !== parts.length) return progress.replaceChildren(...parts);
  old.forEach((part, place) => {
    if (!part.contains(document.activeElement)) part.replaceWith(parts[place]);
  });
}

const size = document.querySelector("[data-size]");
if (size) {
  const form = size.closest("form");
  let waiting;
  let asking = false;
  const ask = async () => {
    // A large plan takes a while to count: one question at a time.
    if (asking) return soon();
    asking = true;
    let said = "";
    try {
      const answer = await fetch(size.dataset.size + location.search, { method: "POST", body: new FormData(form) });
      if (answer.ok) {
        const detail = await answer.json();
        said = detail.size;
        form.dispatchEvent(new CustomEvent("outlook", { detail }));
      }
    } catch {
      // Said again when something else is typed.
    }
    asking = false;
    if (size.textContent !== said) size.textContent = said;
  };
  const soon = () => {
    clearTimeout(waiting);
    waiting = setTimeout(ask, 400);
  };
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
  if (form.elements.agents.value) soon();
}
