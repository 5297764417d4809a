// Refreshes the page of datasets while one is being created.
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
    // The flow diagram and other parts show the newest dataset.
    if (!alive()) location.reload();
  } catch {
    // Offline, or the server is restarting: try again next time.
  }
}

follow();
