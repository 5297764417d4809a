// The page of datasets keeps itself up to date while one is written.
const EVERY = 1000;

const list = document.getElementById("datasets");
const alive = () => "alive" in list.querySelector("[data-status]").dataset;

function follow() {
  if (!alive()) return;
  setTimeout(async () => {
    if (!document.hidden) await refresh();
    follow();
  }, EVERY);
}

async function refresh() {
  try {
    const answer = await fetch(list.dataset.now);
    if (answer.redirected || answer.status === 403) return location.reload();
    if (!answer.ok || list.contains(document.activeElement)) return;
    list.innerHTML = await answer.text();
    // The figure and the other parts belong to the newest dataset.
    if (!alive()) location.reload();
  } catch {
    // Offline, or the server is being started again: the next time may do better.
  }
}

follow();
