// The chat of a match: messages go over the socket of play.js, or by HTTP while there is none, one at a time.
//
// A message keeps its key until the server confirms it, also across reloads, so sending it again is harmless.
"use strict";
{
  const box = document.getElementById("chat"), log = box.querySelector(".log"), list = log.firstElementChild, form = box.querySelector("form");
  const { text: area, to } = form.elements, model = box.querySelector("template").content.firstElementChild;
  const note = box.querySelector("[data-note]"), unread = box.querySelector("[data-unread]"), start = box.querySelector("[data-begins-in]");
  const PLACE = `parley ${token} chat ${STEP}`, EVERY = 5000, WITHOUT_SOCKET = 3000, LOST = 5000;
  let seen = Number(box.dataset.seen);
  let unsent = [];              // [{ key, text, to }], the oldest first
  let asked = 0;                // when the server was last asked
  let waits = false;            // for its answer
  let stale = false;            // whether there is news to fetch
  let pausedUntil = 0;          // until when nothing is sent, because it was too fast or it is another's turn
  const ready = box.querySelector("[data-ready]");
  let beginsAt = null, news = 0, closed = false;

  try {
    unsent = JSON.parse(stored(undefined, PLACE) ?? "[]");
  } catch {
    // Ignore unreadable messages.
  }

  function ask(line = {}) {
    asked = Date.now();
    waits = true;
    stale = false;
    if (!send({ type: "chat", after: seen, ...line })) fetchChat(line);
  }

  async function fetchChat(line) {
    const options = { headers: { Accept: "application/json" } };
    if (line.key || line.ready) Object.assign(options, { method: "POST", body: new URLSearchParams({ ...line, after: seen }) });
    try {
      const response = await connection.fetch(`chat${STEP}${options.method ? "" : `&after=${seen}`}`, options);
      if (response.ok && !response.redirected) receive(await response.json());
    } catch {
      // The next tick asks again.
    }
  }

  function receive(message) {
    if (!message.lines) {
      stale = true;
      return next();
    }
    waits = false;
    const fresh = message.lines.filter((line) => line.number > seen);
    const confirmed = new Set(fresh.map((line) => line.key));
    unsent = unsent.filter((line) => !confirmed.has(line.key));
    if (message.refused) refuse(message.refused);
    else if (Date.now() >= pausedUntil) note.textContent = message.note ?? "";
    keep();
    for (const line of fresh) list.append(shown(line));
    seen = fresh.at(-1)?.number ?? seen;
    const others = fresh.filter((line) => !line.own).length;
    if (others && !box.open) tell(others);
    closed = !message.open;
    form.hidden = closed;
    setStart(message.begins);
    ready.hidden = (message.ready ?? null) === null;
    ready.dataset.ready = message.ready ? "yes" : "no";
    showUnsent();
    if (fresh.length) log.scrollTop = log.scrollHeight;
    next();
  }

  // A message that can be sent later stays; any other goes back into the field.
  function refuse({ key, reason, wait }) {
    note.textContent = reason;
    if (wait !== null) {
      pausedUntil = Date.now() + wait * 1000;
      return;
    }
    const line = unsent.find((each) => each.key === key);
    unsent = unsent.filter((each) => each !== line);
    if (line) area.value = [line.text, area.value].filter(Boolean).join("\n");
  }

  function next() {
    if (waits) return;
    if (unsent.length && Date.now() >= pausedUntil) ask(unsent[0]);
    else if (stale) ask();
  }

  function keep() {
    stored(JSON.stringify(unsent), PLACE);
  }

  function shown(line) {
    const item = model.cloneNode(true);
    item.classList.toggle("own", Boolean(line.own));
    item.querySelector("b").textContent = line.name;
    item.querySelector("i").textContent = line.to;
    item.querySelector("p").textContent = line.text;
    return item;
  }

  function showUnsent() {
    for (const item of list.querySelectorAll(".unsent")) item.remove();
    for (const line of unsent) {
      const item = shown({ name: box.dataset.sending, to: "", text: line.text, own: true });
      item.classList.add("unsent");
      list.append(item);
    }
  }

  function tell(others) {
    news += others;
    unread.hidden = false;
    unread.querySelector("b").textContent = news;
    announce(box.dataset.news);
  }

  function setStart(seconds) {
    const early = beginsAt !== null && seconds === null;
    beginsAt = seconds === null || seconds === undefined ? null : Date.now() + seconds * 1000;
    countToStart();
    if (early) sync(null);
  }

  function countToStart() {
    start.hidden = beginsAt === null;
    if (beginsAt === null) return;
    start.querySelector("strong").textContent = asTime(Math.max(0, Math.ceil((beginsAt - Date.now()) / 1000)));
    if (Date.now() < beginsAt) return;
    beginsAt = null;
    sync(null);
    stale = true;
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    const text = area.value.trim();
    if (!text) return;
    unsent.push({ key: crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`, text, to: to.value });
    area.value = "";
    keep();
    showUnsent();
    log.scrollTop = log.scrollHeight;
    area.focus();
    next();
  });

  ready.addEventListener("submit", (event) => {
    event.preventDefault();
    event.stopPropagation();
    ask({ ready: 1 });
  });

  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });

  box.addEventListener("toggle", () => {
    if (!box.open) return;
    news = 0;
    unread.hidden = true;
    log.scrollTop = log.scrollHeight;
  });

  document.addEventListener("parley:chat", (event) => receive(event.detail));

  setInterval(() => {
    countToStart();
    const rest = Date.now() - asked;
    if (waits && rest > LOST) waits = false;
    if (over && closed && !unsent.length) return;
    next();
    if (!waits && rest > (socket?.readyState === WebSocket.OPEN ? EVERY : WITHOUT_SOCKET)) ask();
  }, 1000);

  // On a phone, the chat is folded while there is something to do in the game.
  if (matchMedia("(max-width: 40rem)").matches && box.dataset.begins === undefined && !box.classList.contains("whole")) box.open = false;
  setStart(box.dataset.begins === undefined ? null : Number(box.dataset.begins));
  showUnsent();
  log.scrollTop = log.scrollHeight;
}
