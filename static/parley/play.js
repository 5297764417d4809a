// The page of a match: sends moves, shows frames, and never loses either.
//
// Frames come over a socket; while there is none they are fetched. A move names the question it
// answers, so sending it again after a warning is harmless.
"use strict";

const screen = document.getElementById("screen");
const clock = document.getElementById("clock");
const announcer = document.getElementById("announcer");
const lost = document.getElementById("lost");
const note = document.getElementById("note");
const title = document.title;
const token = location.pathname.split("/").filter(Boolean)[1];
const POLL = 3000, SYNC_WAITING = 5000, SYNC_OWN_TURN = 20000, SILENCE = 12000, LOST_AFTER = 1500, SOON = 2000;
const LONG_WAIT = 10000;

let last = Number(screen.dataset.last);
let answering = screen.dataset.answering;
let over = screen.dataset.over === "1";
let deadline = null;
let left = null;          // seconds, as last shown
let extended = clock.dataset.extended === "1";
let pending = null;       // the move that was sent and not yet confirmed
let submitted = null;     // the name of its form
let after = null;         // [form, name, value of its button]: sent when the note before it is kept
let resting = 0;          // the timer that keeps a note once nothing more is typed
let warned = null;       // the fields of the move that the player was asked about
let socket = null;
let wait = 500;           // before the next attempt to connect
let heard = Date.now();
let asked = 0;
let unheard = null;       // since when the socket owes an answer
let alone = Date.now();   // since when there is no socket; null while there is one
let awaits = {};          // the questions that others' agents have to answer, by role
let waiting = null;       // since when
let failed = false;       // whether the last attempt over plain HTTP did not get through
let told = "";            // the question for which somebody was said to be writing

const mine = () => answering !== "" && !over;

// ---- what is shown ----------------------------------------------------------------------------

function show(frame) {
  if (frame.last < last) return;
  const question = String(frame.answering ?? "");
  const same = question === answering;
  const changed = frame.last > last || !same;
  last = frame.last;
  answering = question;
  over = frame.over;
  if (changed) {
    const sent = pending;
    if (sent && sent.answering !== answering) pending = null;
    if (sent && !pending && !over && noted(submitted)) carry(sent);
    Idiomorph.morph(screen, frame.html, { morphStyle: "innerHTML", ignoreActiveValue: same });
    restoreDraft();
    if (pending) freeze(formNamed(submitted), true);
    else keepPending();
    if (sent && !pending) refocus();
    if (!pending && after) goOn();
    document.dispatchEvent(new CustomEvent("parley:screen"));
    if (!same || over) say(news());
  }
  awaits = frame.awaits;
  waiting = frame.waited === null ? null : Date.now() - frame.waited * 1000;
  setClock(frame.remaining, frame.extended);
  document.getElementById("continue").hidden = !over;
  entitle();
  if (over && socket) lose(socket);
}

// The form that was sent is gone, and the focus with it: go on where the answer is.
function refocus() {
  if (document.activeElement && document.activeElement !== document.body) return;
  screen.focus({ preventScroll: true });
  if (screen.getBoundingClientRect().top < 0) screen.scrollIntoView();
}

// What a screen reader is told of a new frame: what happened, what was offered with its words, what is asked.
function news() {
  const parts = [...screen.querySelectorAll("[data-announce]")].map((part) => part.textContent.replace(/\s+/g, " ").trim());
  return parts.filter(Boolean).join(" ") || announcer.dataset.turn;
}

function say(words) {
  announcer.textContent = "";
  setTimeout(() => { announcer.textContent = words; }, 50);
}

function entitle() {
  document.title = mine() && document.hidden ? `● ${announcer.dataset.turn} · ${title}` : title;
}

function formNamed(name) {
  return [...screen.querySelectorAll("form[data-move]")].find((form) => form.dataset.move === name);
}

function refuse(errors) {
  const form = formNamed(submitted);
  if (!form) return;
  const line = form.querySelector("[data-error]");
  line.hidden = false;
  line.textContent = Object.values(errors).join(" ");
  line.tabIndex = -1;
  const field = fieldsOf(form).find(({ name }) => name in errors);
  if (field) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", line.id);
    field.focus();
  } else line.focus();
}

function freeze(form, sent) {
  if (!form) return;
  form.classList.toggle("sent", sent);
  form.querySelector("[data-sent]").hidden = !sent;
  if (sent) tellSending();
  for (const button of form.querySelectorAll("button")) button.disabled = sent;
}

// Nothing is said to be sent before it is: the next frame says that it was.
const offline = () => navigator.onLine === false || (failed && socket?.readyState !== WebSocket.OPEN);

function tellSending() {
  const line = pending && formNamed(submitted)?.querySelector("[data-sent]");
  if (!line) return;
  const words = offline() ? line.dataset.offline : line.dataset.sending;
  if (line.textContent !== words) line.textContent = words;
}

function setClock(remaining, extra) {
  deadline = (remaining ?? "") === "" ? null : Date.now() + remaining * 1000;
  left = null;
  if (extra && !extended) say(announcer.dataset.extra);
  extended = extra;
  clock.firstElementChild.textContent = extended ? clock.dataset.extra : clock.dataset.time;
  tick();
}

function tick() {
  clock.hidden = deadline === null || !mine();
  if (clock.hidden) return;
  const before = left;
  left = Math.max(0, Math.round((deadline - Date.now()) / 1000));
  clock.lastElementChild.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  clock.classList.toggle("short", extended || left <= 30);
  for (const mark of [10, 30]) if (before > mark && left <= mark) say(`${left} ${announcer.dataset.left}`);
  if (left === 0 && Date.now() - asked > SOON) sync();
}

// ---- while others answer the same question: who has, without a new screen --------------------------

function mark(news) {
  if (news.last < last) return;
  last = news.last;
  for (const seat of screen.querySelectorAll("[data-seat]")) {
    const now = news.seats[seat.dataset.seat] ?? "", note = news.notes[seat.dataset.seat] ?? "";
    const words = seat.parentElement.dataset;
    seat.dataset.mark = now;
    seat.dataset.note = note;
    seat.querySelector("[data-words]").textContent = words[now] ?? "";
    seat.querySelector("[data-notes]").textContent = words[note] ?? "";
  }
  const mark = news.seats[news.you];
  if (mark === "answered" && mine()) waitForOthers(news);
  for (const words of screen.querySelectorAll("[data-awaited]")) if (news.awaited) words.textContent = news.awaited;
}

// One's own answer is taken: the form goes, and the page says who is awaited.
function waitForOthers(news) {
  const place = screen.querySelector("[data-waits]");
  if (!place) return sync();
  for (const form of screen.querySelectorAll("form[data-move]")) form.remove();
  for (const status of screen.querySelectorAll("[data-status]")) status.textContent = place.dataset.answered;
  place.hidden = false;
  answering = "";
  pending = null;
  awaits = news.awaits;
  waiting = Object.keys(awaits).length ? Date.now() : null;
  setClock(null, false);
  entitle();
  refocus();
  say(`${place.dataset.answered} ${news.awaited}`);
}

// ---- while an opponent thinks: its words so far, and what happens when none come ----------------------

// Once per answer a screen reader is told that somebody writes; the words themselves come with the frame.
function write(message) {
  const place = screen.querySelector(`.waiting[data-role="${CSS.escape(message.role)}"]`);
  const words = place?.querySelector("[data-draft]");
  if (!words || awaits[message.role] !== message.answering) return;
  const writes = message.text !== null;
  place.classList.toggle("writes", writes);
  words.textContent = message.text ?? "";
  words.scrollTop = words.scrollHeight;
  const question = `${message.role} ${message.answering}`;
  if (writes && told !== question) say(place.querySelector("[data-writing]").textContent);
  if (writes) told = question;
}

function tellWhatIsNext() {
  if (waiting === null || Date.now() - waiting < LONG_WAIT) return;
  for (const line of screen.querySelectorAll("[data-next]")) {
    const sentences = [...line.children];
    const minutes = Math.max(1, Math.ceil((Number(line.dataset.limit) - (Date.now() - waiting) / 1000) / 60));
    const now = sentences.find((sentence) => Number(sentence.dataset.minutes) <= minutes);
    for (const sentence of sentences) sentence.hidden = sentence !== now;
    if (!line.classList.contains("shown")) say(now.textContent);
    line.classList.add("shown");
  }
}

// ---- moves ----------------------------------------------------------------------------------------

document.addEventListener("submit", (event) => {
  if (event.target.closest("form[data-back]")) {
    event.preventDefault();
    if (!send({ type: "back" })) post({ back: "1" });
    return;
  }
  const form = event.target.closest("form[data-move]");
  if (!form) return;
  event.preventDefault();
  if (pending && noted(submitted)) after = [form.dataset.move, event.submitter?.name, event.submitter?.value];
  if (pending) return;
  const open = form.hasAttribute("data-note") ? null : [...screen.querySelectorAll("form[data-pad]")].find(written);
  if (open) {
    after = [form.dataset.move, event.submitter?.name, event.submitter?.value];
    return open.requestSubmit();
  }
  const sure = event.submitter?.name === "!sure" && warned?.["!form"] === form.dataset.move;
  pending = sure ? { ...warned, "!sure": "yes" } : Object.fromEntries(new FormData(form, event.submitter));
  submitted = form.dataset.move;
  settle(form);
  keepPending();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  const line = form.querySelector("[data-error]");
  line.hidden = true;
  line.textContent = "";
  note.textContent = "";
  freeze(form, true);
  if (!send({ type: "move", fields: pending })) post(pending);
});

function outcome(message) {
  if (!pending || !["refused", "stale", "warning"].includes(message.type)) return;
  const sent = pending;
  pending = after = null;
  keepPending();
  freeze(formNamed(submitted), false);
  if (message.type === "warning") return showWarning(sent, message.words);
  if (message.type === "refused") refuse(message.errors);
  else note.textContent = message.reason;
}

// An unusual but legal move: the page asks before sending it, and forgets the question when the player changes anything.
function showWarning(sent, words) {
  const place = formNamed(submitted)?.querySelector("[data-warning]");
  if (!place) return;
  warned = sent;
  place.querySelector("p").textContent = words;
  place.hidden = false;
  place.querySelector("button").focus();
}

function settle(form) {
  warned = null;
  form.querySelector("[data-warning]").hidden = true;
}

async function post(fields) {
  const body = fields ? new URLSearchParams(fields) : undefined;
  const asking = { method: fields ? "POST" : "GET", body, headers: { Accept: "application/json" }, cache: "no-store" };
  try {
    const response = await fetch("match", asking);
    if (response.status === 404 || response.redirected) return location.reload();
    if (!response.ok) return;
    failed = false;
    const frame = await response.json();
    if (frame.outcome && pending === fields) outcome(frame.outcome);
    show(frame);
  } catch {
    failed = true;   // the poll comes again, and sends what is pending
  }
  tellSending();
}

// ---- notes: they leave the question open, and are kept while they are typed ---------------------------

const REST = 10000;
const noted = (name) => formNamed(name)?.hasAttribute("data-note");
const written = (pad) => fieldsOf(pad).some((field) => field.value.trim());

// The note gave the question a new number: what else was typed goes on, and what was added to the note since.
function carry(sent) {
  const pad = formNamed(submitted);
  const rest = fieldsOf(pad).map((field) => {
    const kept = sent[field.name] ?? "";
    return [field.name, field.value.startsWith(kept) ? field.value.slice(kept.length) : ""];
  });
  for (const field of fieldsOf(pad)) field.value = "";
  draft = { question: answering, forms: { ...draft.forms, [submitted]: rest } };
  stored(JSON.stringify(draft));
}

function goOn() {
  const [name, button, value] = after;
  after = null;
  const form = formNamed(name);
  const submitter = [...(form?.querySelectorAll("button[type=submit]") ?? [])]
    .find((one) => one.name === (button ?? "") && one.value === (value ?? ""));
  form?.requestSubmit(submitter);
}

function keep(pad) {
  clearTimeout(resting);
  if (pad.isConnected && !pending && written(pad)) pad.requestSubmit();
}

document.addEventListener("input", (event) => {
  const pad = event.target.form;
  if (!pad?.hasAttribute("data-pad")) return;
  clearTimeout(resting);
  resting = setTimeout(() => keep(pad), REST);
});
document.addEventListener("focusout", (event) => {
  const pad = event.target.form;
  if (pad?.hasAttribute("data-pad") && !pad.contains(event.relatedTarget) && !event.relatedTarget?.form) keep(pad);
});

// ---- drafts: what was typed survives new frames and a reload ----------------------------------------

const DRAFT = `parley ${token}`;
let draft = { question: answering, forms: {} };

// A recruiter's frame may forbid storage; then drafts last as long as the page.
function stored(words, place = DRAFT) {
  try {
    return words === undefined ? sessionStorage.getItem(place) : sessionStorage.setItem(place, words);
  } catch {
    return null;
  }
}

// A move that was not sent yet survives a reload and a look at another page.
const UNSENT = `parley ${token} unsent`;
function keepPending() {
  stored(JSON.stringify(pending ? { question: answering, form: submitted, fields: pending } : null), UNSENT);
}

function restorePending() {
  let kept = null;
  try {
    kept = JSON.parse(stored(undefined, UNSENT) ?? "null");
  } catch {
    return;
  }
  if (kept?.question !== answering || !mine() || !formNamed(kept.form)) return;
  pending = kept.fields;
  submitted = kept.form;
  freeze(formNamed(submitted), true);
}

function fieldsOf(form) {
  return [...form.elements].filter((field) => field.name && !["hidden", "submit"].includes(field.type));
}

document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (!form?.dataset.move) return;
  settle(form);
  if (draft.question !== answering) draft = { question: answering, forms: {} };
  const filled = fieldsOf(form).filter((field) => !["checkbox", "radio"].includes(field.type) || field.checked);
  draft.forms[form.dataset.move] = filled.map((field) => [field.name, field.value]);
  stored(JSON.stringify(draft));
});

// An error goes when what was wrong is changed; the server judges again.
document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (!form?.dataset.move || !event.target.hasAttribute("aria-invalid")) return;
  event.target.removeAttribute("aria-invalid");
  form.querySelector("[data-error]").hidden = true;
});

// How many characters are left to write, for every message.
function count(area) {
  const place = document.getElementById(area.dataset.counted);
  if (place) place.textContent = place.dataset.words.replace("COUNT", (area.maxLength - area.value.length).toLocaleString("en-US"));
}
document.addEventListener("input", (event) => {
  if (event.target.matches("textarea[data-counted]")) count(event.target);
});
document.addEventListener("parley:screen", () => screen.querySelectorAll("textarea[data-counted]").forEach(count));

// What an offer that is being made would pay: a game says its payoff, the study's rule makes a bonus of it.
document.addEventListener("parley:payoff", (event) => {
  const place = event.target.querySelector("[data-bonus-here]");
  if (!place) return;
  place.hidden = !Number.isFinite(event.detail);
  if (place.hidden) return;
  const line = JSON.parse(event.target.dataset.bonus);
  const bonus = Math.min(Math.max(line.at_zero + line.slope * event.detail, 0), line.most);
  place.textContent = place.dataset.words.replace("BONUS", line.written.replace("0.00", bonus.toFixed(2)));
});

function restoreDraft() {
  if (draft.question !== answering) return;
  for (const form of screen.querySelectorAll("form[data-move]")) {
    const kept = draft.forms[form.dataset.move];
    if (!kept) continue;
    const values = new Map(kept);
    for (const field of fieldsOf(form)) {
      if (["checkbox", "radio"].includes(field.type)) field.checked = values.get(field.name) === field.value;
      else if (values.has(field.name) && field.value !== values.get(field.name)) field.value = values.get(field.name);
    }
  }
}

// ---- the socket -----------------------------------------------------------------------------------

function connect() {
  if (socket || over) return;
  const made = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/play/${token}/`);
  socket = made;
  made.onopen = () => {
    wait = 500;
    alone = unheard = null;
    lost.textContent = "";
    if (pending) send({ type: "move", fields: pending });
  };
  made.onmessage = (event) => {
    heard = Date.now();
    unheard = null;
    const message = JSON.parse(event.data);
    if (message.type === "screen") show(message);
    else if (message.type === "marks") mark(message);
    else if (message.type === "draft") write(message);
    else if (message.type === "gone") location.reload();
    else outcome(message);
  };
  made.onclose = () => lose(made);
}

// Give a socket up, closed or silent, and try again a little later each time.
function lose(gone) {
  if (gone !== socket) return;
  socket = null;
  gone.onmessage = gone.onclose = gone.onopen = null;
  gone.close();
  if (over) return;
  alone ??= Date.now();
  setTimeout(connect, wait * (0.75 + Math.random() / 2));
  wait = Math.min(wait * 2, 8000);
}

function send(message) {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(message));
  unheard ??= Date.now();
  return true;
}

function sync() {
  asked = Date.now();
  if (!send({ type: "sync", last })) post(pending);
}

setInterval(() => {
  tick();
  tellWhatIsNext();
  tellSending();
  if (over) return;
  const now = Date.now();
  if (socket?.readyState !== WebSocket.OPEN) {
    if (now - alone > LOST_AFTER) {
      const words = offline() ? lost.dataset.offline : lost.dataset.lost;
      if (lost.textContent !== words) lost.textContent = words;
    }
    if (now - asked > POLL) sync();
  } else if (unheard !== null && now - unheard > SILENCE) {
    lose(socket);
  } else if (now - Math.max(asked, heard) > (!mine() || pending ? SYNC_WAITING : SYNC_OWN_TURN)) {
    sync();
    if (pending) post(pending);   // the socket may be dead and not know it
  }
}, 1000);

document.addEventListener("visibilitychange", () => {
  entitle();
  if (document.hidden || over) return;
  sync();
  setTimeout(() => { if (unheard !== null && !over) post(pending); }, SOON);   // a phone's socket may have died asleep
});
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

try {
  const kept = JSON.parse(stored() ?? "null");
  if (kept?.question === answering) draft = kept;
} catch {
  // A draft that cannot be read is no draft.
}
restoreDraft();
document.dispatchEvent(new CustomEvent("parley:screen"));
restorePending();
for (const change of ["online", "offline"]) window.addEventListener(change, tellSending);
setClock(clock.dataset.remaining, extended);
connect();
