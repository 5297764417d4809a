// Refreshes a collection's page while matches are played; in the form, shows how many matches it would have.
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
    // A new status needs other buttons.
    if (progress.querySelector("[data-status]").dataset.status !== status) location.reload();
  } catch {
    // Offline, or the server is restarting: try again next time.
  }
}

// Keep the keyboard focus: refresh only the parts without the focused link.
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
    // Counting a large plan takes a while: one request at a time.
    if (asking) return soon();
    asking = true;
    let said = "";
    try {
      const answer = await fetch(size.dataset.size + location.search, { method: "POST", body: new FormData(form) });
      if (answer.ok) {
        const detail = await answer.json();
        said = detail.size;
        form.dispatchEvent(new CustomEvent("live-preview", { detail }));
      }
    } catch {
      // The next input retries.
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
