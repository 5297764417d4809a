// The page of a match: sends moves, shows frames, and never loses either.
//
// Frames come over a socket; while there is none they are fetched. A move names the question it
// answers, so sending it again after a doubt is harmless.
"use strict";

const screen = document.getElementById("screen");
const clock = document.getElementById("clock");
const announcer = document.getElementById("announcer");
const lost = document.getElementById("lost");
const title = document.title;
const token = location.pathname.split("/").filter(Boolean)[1];
const POLL = 3000, SYNC_WAITING = 5000, SYNC_OWN_TURN = 20000, SILENCE = 12000, LOST_AFTER = 1500;

let last = Number(screen.dataset.last);
let answering = screen.dataset.answering;
let over = screen.dataset.over === "1";
let deadline = null;
let pending = null;       // the move that was sent and not yet confirmed
let socket = null;
let wait = 500;           // before the next attempt to connect
let heard = Date.now();
let asked = 0;
let lostTimer = null;

// ---- what is shown ----------------------------------------------------------------------------

function show(frame) {
  if (frame.last < last) return;
  const wasMine = answering !== "" && !over;
  const changed = frame.last > last || String(frame.answering ?? "") !== answering;
  last = frame.last;
  answering = String(frame.answering ?? "");
  if (changed) {
    if (pending) sessionStorage.removeItem(draftKey(pending.answering));
    pending = null;
    Idiomorph.morph(screen, frame.html, { morphStyle: "innerHTML", ignoreActiveValue: true });
    restoreDraft();
    document.dispatchEvent(new CustomEvent("parley:screen"));
  }
  over = frame.over;
  setClock(frame.remaining, frame.extended);
  document.getElementById("continue").hidden = !over;
  const mine = answering !== "" && !over;
  if (mine && !wasMine) announcer.textContent = announcer.dataset.turn;
  document.title = (mine && document.hidden ? "● " : "") + title;
}

function refuse(errors) {
  const form = screen.querySelector("form[data-move]");
  if (!form) return;
  const line = form.querySelector("[data-error]");
  line.textContent = Object.values(errors).join(" ");
  line.hidden = false;
  freeze(form, false);
  const field = Object.keys(errors).find((name) => name && form.elements[name]);
  (field ? form.elements[field] : line).focus?.();
}

function freeze(form, sent) {
  form.classList.toggle("sent", sent);
  for (const button of form.querySelectorAll("button")) button.disabled = sent;
}

function setClock(remaining, extended) {
  deadline = remaining === null || remaining === undefined || remaining === "" ? null : Date.now() + remaining * 1000;
  clock.firstElementChild.textContent = extended ? clock.dataset.extra : clock.dataset.time;
  tick();
}

function tick() {
  clock.hidden = deadline === null || answering === "" || over;
  if (clock.hidden) return;
  const left = Math.max(0, Math.round((deadline - Date.now()) / 1000));
  clock.lastElementChild.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  clock.classList.toggle("short", left <= 30);
  if (left === 30 || left === 10) announcer.textContent = `${left} ${announcer.dataset.left}`;
  if (left === 0 && Date.now() - asked > 2000) sync();
}

// ---- moves ----------------------------------------------------------------------------------------

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-move]");
  if (!form) return;
  event.preventDefault();
  if (pending) return;
  const fields = Object.fromEntries(new FormData(form, event.submitter));
  const line = form.querySelector("[data-error]");
  line.hidden = true;
  line.textContent = "";
  pending = fields;
  freeze(form, true);
  if (!send({ type: "move", fields })) post(fields);
});

function draftKey(question = answering) {
  return `draft ${token} ${question}`;
}

document.addEventListener("input", (event) => {
  if (event.target.matches("form[data-move] textarea")) sessionStorage.setItem(draftKey(), event.target.value);
});

function restoreDraft() {
  const box = screen.querySelector("form[data-move] textarea");
  const draft = sessionStorage.getItem(draftKey());
  if (box && draft && !box.value) box.value = draft;
}

function outcome(message) {
  if (message.type === "refused") {
    pending = null;
    refuse(message.errors);
  } else if (message.type === "stale") {
    pending = null;
    announcer.textContent = message.reason;
  }
}

async function post(fields) {
  const body = fields ? new URLSearchParams(fields) : undefined;
  const asking = { method: fields ? "POST" : "GET", body, headers: { Accept: "application/json" }, cache: "no-store" };
  try {
    const response = await fetch("match", asking);
    if (response.status === 404 || response.redirected) return location.reload();
    if (!response.ok) throw new Error(response.status);
    const frame = await response.json();
    if (frame.outcome && frame.outcome.type !== "taken") outcome(frame.outcome);
    show(frame);
    return true;
  } catch {
    return false;               // the poll comes again, and sends what is pending
  }
}

// ---- the socket -----------------------------------------------------------------------------------

function connect() {
  socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/play/${token}/`);
  socket.onopen = () => {
    wait = 500;
    heard = Date.now();
    clearTimeout(lostTimer);
    lostTimer = null;
    lost.hidden = true;
    if (pending) send({ type: "move", fields: pending });
  };
  socket.onmessage = (event) => {
    heard = Date.now();
    const message = JSON.parse(event.data);
    if (message.type === "screen") show(message);
    else if (message.type === "gone") location.reload();
    else outcome(message);
  };
  socket.onclose = () => {
    socket = null;
    lostTimer ??= setTimeout(() => { lost.hidden = false; }, LOST_AFTER);
    setTimeout(connect, wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, 8000);
  };
}

function send(message) {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(message));
  return true;
}

function sync() {
  asked = Date.now();
  if (!send({ type: "sync", last })) post(null);
}

setInterval(() => {
  tick();
  if (over) return;
  const now = Date.now();
  if (socket?.readyState !== WebSocket.OPEN) {
    if (now - asked > POLL) {
      asked = now;
      post(pending);
    }
  } else if (asked > heard && now - asked > SILENCE) {
    socket.close();
  } else if (now - Math.max(asked, heard) > (answering === "" || pending ? SYNC_WAITING : SYNC_OWN_TURN)) {
    sync();
  }
}, 1000);

document.addEventListener("visibilitychange", () => {
  document.title = title;
  if (!document.hidden && !over) sync();
});
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

setClock(clock.dataset.remaining, clock.dataset.extended === "1");
restoreDraft();
if (!over) connect();
