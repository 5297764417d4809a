// The lobby page: signals presence every few seconds, shows who is here, and continues when the game starts.
"use strict";

const lobby = document.getElementById("lobby");
const seats = document.getElementById("seats");
const missing = document.getElementById("missing");
const left = document.getElementById("left");
const lost = document.getElementById("lost");
const chime = document.getElementById("chime");
const words = lobby.dataset;
const title = document.title;
const HERE = 4000, SILENCE = 12000, LOST_AFTER = 3000, BEFORE_START = 900;

let place = Number(words.place);
let until = Date.now() + Number(words.remaining) * 1000;
let socket = null;
let wait = 500;
let lastMessageAt = Date.now();
let lastRequestAt = Date.now();
let begun = false;
let sound = null;

// ---- what is shown --------------------------------------------------------------------------------

function show(message) {
  if (begun) return;
  if (message.type === "begin") return begin();
  place = message.place;
  until = Date.now() + message.remaining * 1000;
  const rows = message.seats.map((seat) => {
    const row = document.createElement("li");
    row.className = `seat-${seat.number}${seat.place === null ? "" : " here"}`;
    const dot = document.createElement("i"), name = document.createElement("span"), who = document.createElement("small");
    dot.setAttribute("aria-hidden", "true");
    name.textContent = seat.title;
    who.textContent = seat.place === null ? words.free : seat.place === place ? words.you : words.isHere;
    row.append(dot, name, who);
    return row;
  });
  seats.replaceChildren(...rows);
  const many = message.missing, said = missing.dataset;
  const sentence = many === 0 ? said.none : many === 1 ? said.one : said.some.replace("{n}", many);
  if (missing.textContent !== sentence) missing.textContent = sentence;
  document.title = `(${message.seats.length - many}/${message.seats.length}) ${words.waiting} · ${title}`;
}

function begin() {
  begun = true;
  document.title = `● ${words.starts} · ${title}`;
  missing.textContent = words.starts;
  ring();
  setTimeout(() => location.reload(), sound ? BEFORE_START : 0);
}

function tick() {
  const seconds = Math.max(0, Math.round((until - Date.now()) / 1000));
  left.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

// ---- the chime: only if the participant turned it on -------------------------------------------------

function ring() {
  if (!sound) return;
  [659, 880].forEach((pitch, number) => {
    const tone = sound.createOscillator(), loudness = sound.createGain(), at = sound.currentTime + number * 0.22;
    tone.frequency.value = pitch;
    loudness.gain.setValueAtTime(0.25, at);
    loudness.gain.exponentialRampToValueAtTime(0.001, at + 0.6);
    tone.connect(loudness).connect(sound.destination);
    tone.start(at);
    tone.stop(at + 0.6);
  });
}

if (window.AudioContext) {
  const off = chime.textContent;
  chime.hidden = false;
  chime.addEventListener("click", () => {
    sound = sound ? null : new AudioContext();
    chime.setAttribute("aria-pressed", String(Boolean(sound)));
    chime.textContent = sound ? chime.dataset.on : off;
    ring();
  });
}

// ---- presence: over a socket, or by polling without one -----------------------------------------------

function connect() {
  if (socket || begun) return;
  const made = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/lobby/${words.token}/`);
  socket = made;
  made.onopen = () => { wait = 500; };
  made.onmessage = (event) => {
    lastMessageAt = Date.now();
    lost.textContent = "";
    show(JSON.parse(event.data));
  };
  made.onclose = () => disconnect(made);
}

function disconnect(lostSocket) {
  if (lostSocket !== socket) return;
  socket = null;
  lostSocket.onmessage = lostSocket.onclose = null;
  lostSocket.close();
  setTimeout(connect, wait * (0.75 + Math.random() / 2));
  wait = Math.min(wait * 2, 8000);
}

async function ask() {
  lastRequestAt = Date.now();
  if (socket?.readyState === WebSocket.OPEN) return socket.send(JSON.stringify({ type: "sync" }));
  try {
    const response = await fetch("lobby", { headers: { Accept: "application/json" }, cache: "no-store" });
    if (response.status === 404) return location.reload();
    if (!response.ok) return;
    lastMessageAt = Date.now();
    lost.textContent = "";
    show(await response.json());
  } catch {
    // The next poll retries.
  }
}

setInterval(() => {
  tick();
  if (begun) return;
  const now = Date.now();
  if (now - lastMessageAt > HERE + LOST_AFTER) lost.textContent ||= lost.dataset.lost;
  if (now - lastMessageAt > SILENCE && socket) disconnect(socket);
  if (now - lastRequestAt > HERE || now > until) ask();
}, 1000);

document.addEventListener("visibilitychange", () => { if (!document.hidden && !begun) ask(); });
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
tick();
connect();
