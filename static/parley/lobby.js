// The lobby page: shows who is here, asks "Ready?" when the group is complete, and continues when the game starts.
"use strict";

const lobby = document.getElementById("lobby");
const waiting = document.getElementById("waiting");
const ready = document.getElementById("ready");
const seats = document.getElementById("seats");
const missing = document.getElementById("missing");
const others = document.getElementById("others");
const form = document.getElementById("answer");
const button = form.querySelector("button");
const lost = document.getElementById("lost");
const chime = document.getElementById("chime");
const notify = document.getElementById("notify");
const tips = document.getElementById("tips");
const words = lobby.dataset;
const title = document.title;
const POLL = 4000, POLL_ASKED = 2000, SILENCE = 7000, BEFORE_START = 900;

let stage = words.stage;              // "waiting" or "ready"
let until = Date.now() + Number(words.remaining) * 1000;
let keptUntil = Date.now() + Number(words.kept) * 1000;
let counts = "";                      // what the title says about who is here
let pressed = !document.getElementById("pressed").hidden;
let pressing = null;                  // the group for which "I'm ready" was pressed and not yet confirmed
let socket = null;
let wait = 500;                       // before the next attempt to connect
let heardAt = Date.now();             // when the socket's last message came
let askedAt = Date.now();             // when the page last asked
let toldAt = Date.now();              // when our server last said where the participant is
let asking = false;                   // whether a request is under way
let begun = false;
let sound = null;

// ---- what is shown --------------------------------------------------------------------------------

// `sentAt`: when the page sent what this answers, so that it never promises more time than the server gives.
function show(message, sentAt) {
  if (begun) return;
  if (message.type === "begin") return begin();
  if (message.type === "here") return showHere(message);
  toldAt = Date.now();
  until = sentAt + message.remaining * 1000;
  keptUntil = sentAt + message.kept * 1000;
  const isNew = message.stage !== stage;
  stage = message.stage;
  waiting.hidden = stage !== "waiting";
  ready.hidden = stage !== "ready";
  tips.hidden = stage !== "waiting";
  const setback = `${message.setback} ${stage}`;
  for (const line of lobby.querySelectorAll("[data-setback]")) line.hidden = line.dataset.setback !== setback;
  if (stage === "ready") showReady(message);
  else {
    pressing = null;
    showHere(message);
  }
  if (isNew && stage === "ready") announce();
  else if (isNew) ring();
  tick();
}

function showHere({ others, missing: many }) {
  if (many === null) return;
  const row = (name, state, isHere) => {
    const item = document.createElement("li");
    const dot = document.createElement("i"), label = document.createElement("span"), small = document.createElement("small");
    item.className = isHere ? "here" : "";
    dot.className = "mark";
    dot.setAttribute("aria-hidden", "true");
    label.textContent = name;
    small.textContent = state;
    item.append(dot, label, small);
    return item;
  };
  const said = seats.dataset;
  seats.replaceChildren(
    seats.firstElementChild,
    ...Array.from({ length: others }, () => row(said.other, said.here, true)),
    ...Array.from({ length: many }, () => row(said.free, said.notHere, false)),
  );
  say(missing, many);
  counts = `(${others + 1}/${others + 1 + many}) `;
}

function showReady(message) {
  document.getElementById("seat").textContent = message.seat;
  document.getElementById("mark").className = `mark ${message.style}`;
  form.elements.group.value = message.group;
  if (pressing !== message.group || message.pressed) pressing = null;
  pressed = message.pressed;
  form.hidden = pressed;
  for (const line of form.querySelectorAll("[data-miss]")) line.hidden = (line.dataset.miss === "last") !== message.missed;
  document.getElementById("pressed").hidden = !pressed;
  if (message.others !== null) say(others, message.others);
  showSending();
}

function showSending() {
  button.disabled = pressing !== null;
  button.dataset.label ??= button.textContent;
  button.textContent = pressing === null ? button.dataset.label : button.dataset.sending;
}

function say(line, many) {
  const said = line.dataset;
  const sentence = many === 0 ? said.none : many === 1 ? said.one : said.some.replace("{n}", many);
  if (line.textContent !== sentence) line.textContent = sentence;
}

function begin() {
  begun = true;
  document.title = `● ${words.starts} · ${title}`;
  for (const line of [missing, others]) line.textContent = words.starts;
  lost.textContent = "";
  if (stage === "waiting") notifyOutside(words.starts, "");
  ring();
  setTimeout(() => location.reload(), sound ? BEFORE_START : 0);
}

function secondsTo(moment) {
  return Math.max(0, Math.round((moment - Date.now()) / 1000));
}

function clock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function tick() {
  const left = clock(secondsTo(until));
  for (const place of lobby.querySelectorAll("[data-left]")) place.textContent = left;
  const asks = stage === "ready" && !pressed;
  const now = asks ? `● ${words.ready} ${left} · ${title}` : `${stage === "waiting" ? counts : ""}${words.waiting} · ${title}`;
  if (document.title !== now) document.title = now;
  showLost();
}

// ---- while our server is not reached: what is true of the place ------------------------------------------

function showLost() {
  const failure = connection.failure || (Date.now() - toldAt > SILENCE ? "slow" : "");
  const sentence = failure ? sentenceFor(failure) : "";
  if (lost.textContent !== sentence) lost.textContent = sentence;
  lobby.classList.toggle("unreached", sentence !== "");   // what may have changed since is hidden
}

function sentenceFor(failure) {
  const said = lost.dataset, sends = pressing === null ? "" : ` ${said.sends}`;
  if (failure === "server") return said.server + sends;
  const within = (sentence, moment) => sentence.replace("{time}", clock(secondsTo(moment)));
  if (stage === "ready" && pressed) return `${said[failure]} ${said.pressed}`;
  if (stage === "ready") return `${said[failure]} ${secondsTo(until) ? within(said.asked, until) + sends : said.over}`;
  return `${said[failure]} ${secondsTo(keptUntil) ? within(said.kept, keptUntil) : said.away}`;
}

// ---- sound and notification: only if the participant turned them on ---------------------------------------

function announce() {
  ring();
  notifyOutside(words.ready, words.complete);
  if (!document.hidden) button.focus({ preventScroll: true });
}

function notifyOutside(heading, body) {
  if (window.Notification?.permission !== "granted" || !document.hidden) return;
  try {
    const shown = new Notification(heading, { body, tag: words.token });
    shown.onclick = () => { window.focus(); shown.close(); };
  } catch {
    // Some phones allow notifications only from service workers.
  }
}

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

function showPermission() {
  notify.hidden = false;
  notify.disabled = Notification.permission !== "default";
  if (notify.disabled) notify.textContent = Notification.permission === "granted" ? notify.dataset.on : notify.dataset.off;
}

if (window.Notification?.permission === "default" || window.Notification?.permission === "granted") {
  showPermission();
  notify.addEventListener("click", async () => { await Notification.requestPermission(); showPermission(); });
}

// ---- presence and "I'm ready": over a socket, or by requests without one ------------------------------------

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (pressing !== null) return;
  pressing = Number(form.elements.group.value);
  showSending();
  ask();
});

function connect() {
  if (socket || begun) return;
  askedAt = Date.now();
  const made = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/lobby/${words.token}/`);
  socket = made;
  made.onopen = () => { wait = 500; if (pressing !== null) ask(); };
  made.onmessage = (event) => {
    heardAt = Date.now();
    connection.reached();
    const message = JSON.parse(event.data);
    if (message.type === "ask") ask();
    else show(message, askedAt);
  };
  made.onclose = () => disconnect(made);
}

function disconnect(lostSocket) {
  if (lostSocket !== socket) return;
  socket = null;
  lostSocket.onmessage = lostSocket.onclose = null;
  lostSocket.close();
  if (begun) return;
  ask();
  setTimeout(connect, wait * (0.75 + Math.random() / 2));
  wait = Math.min(wait * 2, 8000);
}

async function ask() {
  if (begun) return;
  const fields = pressing === null ? null : { group: pressing };
  if (socket?.readyState === WebSocket.OPEN) {
    askedAt = Date.now();
    return socket.send(JSON.stringify(fields ? { type: "ready", ...fields } : { type: "sync" }));
  }
  if (asking) return;
  asking = true;
  const sentAt = askedAt = Date.now();
  try {
    const body = fields ? new URLSearchParams(fields) : undefined;
    const response = await connection.fetch("lobby", { method: fields ? "POST" : "GET", body, headers: { Accept: "application/json" } });
    if (!response.ok) return location.reload();
    show(await response.json(), sentAt);
  } catch {
    // The next poll retries.
  } finally {
    asking = false;
  }
}

setInterval(() => {
  if (begun) return;
  tick();
  const now = Date.now();
  if (socket?.readyState === WebSocket.OPEN && now - heardAt > SILENCE) disconnect(socket);
  const isOpen = socket?.readyState === WebSocket.OPEN;
  const pause = stage === "ready" || pressing !== null ? POLL_ASKED : POLL;
  if (now - askedAt > (isOpen && now < until ? SILENCE : pause)) ask();
}, 1000);

document.addEventListener("parley:connection", tick);
document.addEventListener("visibilitychange", () => { if (!document.hidden) ask(); });
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
if (!seats.hidden) counts = `(${seats.querySelectorAll(".here").length}/${seats.children.length}) `;
tick();
connect();
