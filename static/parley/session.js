// The waiting room of a session: shows the time left and the place in the list, and begins when the session starts.
"use strict";

const room = document.getElementById("room");
const lost = document.getElementById("lost");
const left = document.getElementById("left");
const title = document.title;
const EVERY = 1000 * Number(room.dataset.every), SILENCE = EVERY + 5000, SOON = 3000, SPREAD = 800;

let until = "remaining" in room.dataset ? Date.now() + 1000 * Number(room.dataset.remaining) : null;
let socket = null;
let wait = 500;                       // before the next attempt to connect
let askedAt = Date.now(), heardAt = Date.now();
let every = EVERY * (0.8 + Math.random() * 0.4);
let asking = false, done = false;

function show(message) {
  if (done) return;
  if (message.stage === "begin") return begin();
  if (message.stage === "over" || message.stage !== room.dataset.stage || message.start !== room.dataset.start) return reload();
  until = message.remaining === null ? null : Date.now() + 1000 * message.remaining;
  document.getElementById("position").textContent = message.position;
  document.getElementById("here").textContent = message.here;
  tick();
}

function begin() {
  done = true;
  document.title = `● ${room.dataset.starts} · ${title}`;
  document.getElementById("enter").submit();
  setTimeout(() => { done = false; }, 15000);   // the answer was lost: ask again
}

function reload() {
  done = true;
  location.reload();
}

function tick() {
  const seconds = until === null ? null : Math.max(0, Math.round((until - Date.now()) / 1000));
  const clock = seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${String(Math.floor(seconds / 60) % 60).padStart(2, "0")}:` : `${Math.floor(seconds / 60)}:`;
  left.parentElement.hidden = seconds > 24 * 3600;
  left.textContent = seconds === null ? left.dataset.hand : seconds === 0 ? left.dataset.soon : clock + String(seconds % 60).padStart(2, "0");
  const now = seconds === null || seconds > 24 * 3600 ? `${room.dataset.waiting} · ${title}` : `${left.textContent} · ${title}`;
  if (!done && document.title !== now) document.title = now;
  const sentence = connection.failure ? lost.dataset[connection.failure] : "";
  if (lost.textContent !== sentence) lost.textContent = sentence;
}

function connect() {
  if (socket || done) return;
  const made = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/session/${room.dataset.token}/`);
  socket = made;
  made.onopen = () => { wait = 500; };
  made.onmessage = (event) => {
    heardAt = Date.now();
    connection.reached();
    show(JSON.parse(event.data));
  };
  made.onclose = () => {
    if (made !== socket) return;
    socket = null;
    setTimeout(connect, wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, 8000);
  };
}

async function ask() {
  if (done) return;
  askedAt = Date.now();
  every = (socket ? EVERY : SOON) * (0.8 + Math.random() * 0.4);
  if (socket?.readyState === WebSocket.OPEN) return socket.send("{}");
  if (asking) return;
  asking = true;
  try {
    const response = await connection.fetch(room.dataset.url, { headers: { Accept: "application/json" } });
    if (!response.ok) return reload();
    show(await response.json());
  } catch {
    // The next request retries.
  } finally {
    asking = false;
  }
}

setInterval(() => {
  tick();
  const now = Date.now();
  if (socket?.readyState === WebSocket.OPEN && now - heardAt > SILENCE) socket.close();
  // At the planned start everybody asks, but not in the same instant.
  const isTime = until !== null && now > until + Math.random() * SPREAD && now - askedAt > 1000;
  if (now - askedAt > every || isTime) ask();
}, 250);

document.addEventListener("parley:connection", tick);
document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
tick();
connect();
