// The match page: sends moves and shows frames without losing either.
//
// Frames arrive over a socket, or are fetched while there is none. A move names the turn it answers,
// so sending it twice is harmless.
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
let left = null;                      // seconds last shown
let extended = clock.dataset.extended === "1";
let pending = null;                   // the move sent but not yet confirmed
let submitted = null;                 // the name of its form
let after = null;                     // [form, name, value of its button]: sent once the note before it is saved
let saveTimer = 0;                    // the timer that saves a note when typing stops
let warned = null;                    // the fields of the move that needs confirmation
let socket = null;
let wait = 500;                       // before the next attempt to connect
let lastMessageAt = Date.now();
let lastRequestAt = 0;
let unansweredSince = null;           // when a message was sent that the socket has not answered
let disconnectedAt = Date.now();      // when the socket was lost; null while connected
let awaits = {};                      // the open turns of other seats' agents, by role
let waiting = null;                   // when that wait began
let failed = false;                   // whether the last plain HTTP request failed
let announcedTurn = "";               // the turn for which "is writing" was announced

const isOwnTurn = () => answering !== "" && !over;

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
    if (sent && !pending && !over && isNote(submitted)) keepLaterText(sent);
    Idiomorph.morph(screen, frame.html, { morphStyle: "innerHTML", ignoreActiveValue: same });
    restoreDraft();
    if (pending) freeze(formNamed(submitted), true);
    else keepPending();
    if (sent && !pending) refocus();
    if (!pending && after) submitNext();
    document.dispatchEvent(new CustomEvent("parley:screen"));
    if (!same || over) announce(news());
  }
  awaits = frame.awaits;
  waiting = frame.waited === null ? null : Date.now() - frame.waited * 1000;
  setClock(frame.remaining, frame.extended);
  document.getElementById("continue").hidden = !over;
  updateTitle();
  if (over && socket) disconnect(socket);
}

// The submitted form, which had the focus, is gone: move the focus to the new screen.
function refocus() {
  if (document.activeElement && document.activeElement !== document.body) return;
  screen.focus({ preventScroll: true });
  if (screen.getBoundingClientRect().top < 0) screen.scrollIntoView();
}

// The announcement of a new frame for screen readers: events, offers with their messages, the question.
function news() {
  const parts = [...screen.querySelectorAll("[data-announce]")].map((part) => part.textContent.replace(/\s+/g, " ").trim());
  return parts.filter(Boolean).join(" ") || announcer.dataset.turn;
}

function announce(words) {
  announcer.textContent = "";
  setTimeout(() => { announcer.textContent = words; }, 50);
}

function updateTitle() {
  document.title = isOwnTurn() && document.hidden ? `● ${announcer.dataset.turn} · ${title}` : title;
}

function formNamed(name) {
  return [...screen.querySelectorAll("form[data-move]")].find((form) => form.dataset.move === name);
}

function showErrors(errors) {
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
  if (sent) showSendingState();
  for (const button of form.querySelectorAll("button")) button.disabled = sent;
}

// The page never claims that a move was sent before the next frame confirms it.
const offline = () => navigator.onLine === false || (failed && socket?.readyState !== WebSocket.OPEN);

function showSendingState() {
  const line = pending && formNamed(submitted)?.querySelector("[data-sent]");
  if (!line) return;
  const words = offline() ? line.dataset.offline : line.dataset.sending;
  if (line.textContent !== words) line.textContent = words;
}

function setClock(remaining, extra) {
  deadline = (remaining ?? "") === "" ? null : Date.now() + remaining * 1000;
  left = null;
  if (extra && !extended) announce(announcer.dataset.extra);
  extended = extra;
  clock.firstElementChild.textContent = extended ? clock.dataset.extra : clock.dataset.time;
  tick();
}

function tick() {
  clock.hidden = deadline === null || !isOwnTurn();
  if (clock.hidden) return;
  const before = left;
  left = Math.max(0, Math.round((deadline - Date.now()) / 1000));
  clock.lastElementChild.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  clock.classList.toggle("short", extended || left <= 30);
  for (const mark of [10, 30]) if (before > mark && left <= mark) announce(`${left} ${announcer.dataset.left}`);
  if (left === 0 && Date.now() - lastRequestAt > SOON) sync();
}

// ---- simultaneous turns: who has answered, without a new screen ------------------------------------

function mark(news) {
  if (news.last < last) return;
  last = news.last;
  for (const seat of screen.querySelectorAll(".seats > [data-seat]")) {
    const now = news.seats[seat.dataset.seat] ?? "", note = news.notes[seat.dataset.seat] ?? "";
    const words = seat.parentElement.dataset;
    seat.dataset.mark = now;
    seat.dataset.note = note;
    seat.querySelector("[data-words]").textContent = words[now] ?? "";
    seat.querySelector("[data-notes]").textContent = words[note] ?? "";
  }
  const mark = news.seats[news.you];
  if (mark === "answered" && isOwnTurn()) waitForOthers(news);
  for (const words of screen.querySelectorAll("[data-awaited]")) if (news.awaited) words.textContent = news.awaited;
  for (const words of screen.querySelectorAll("[data-others]")) words.textContent = news.others[news.you];
}

// The player's own answer was accepted: remove the form and show who is still deciding.
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
  updateTitle();
  refocus();
  announce(`${place.dataset.answered} ${news.awaited}`);
}

// ---- while an opponent thinks: its text so far, and what happens if it doesn't answer -----------------

// Announce "is writing" once per answer; the text itself arrives with the frame.
function showTypedText(message) {
  const place = screen.querySelector(`.waiting[data-role="${CSS.escape(message.role)}"]`);
  const words = place?.querySelector("[data-draft]");
  if (!words || awaits[message.role] !== message.answering) return;
  const writes = message.text !== null;
  place.classList.toggle("writes", writes);
  words.textContent = message.text ?? "";
  words.scrollTop = words.scrollHeight;
  const question = `${message.role} ${message.answering}`;
  if (writes && announcedTurn !== question) announce(place.querySelector("[data-writing]").textContent);
  if (writes) announcedTurn = question;
}

function showNextStep() {
  if (waiting === null || Date.now() - waiting < LONG_WAIT) return;
  for (const line of screen.querySelectorAll("[data-next]")) {
    const sentences = [...line.children];
    const minutes = Math.max(1, Math.ceil((Number(line.dataset.limit) - (Date.now() - waiting) / 1000) / 60));
    const now = sentences.find((sentence) => Number(sentence.dataset.minutes) <= minutes);
    for (const sentence of sentences) sentence.hidden = sentence !== now;
    if (!line.classList.contains("shown")) announce(now.textContent);
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
  if (pending && isNote(submitted)) after = [form.dataset.move, event.submitter?.name, event.submitter?.value];
  if (pending) return;
  const open = form.hasAttribute("data-note") ? null : [...screen.querySelectorAll("form[data-pad]")].find(hasText);
  if (open) {
    after = [form.dataset.move, event.submitter?.name, event.submitter?.value];
    return open.requestSubmit();
  }
  const sure = event.submitter?.name === "!sure" && warned?.["!form"] === form.dataset.move;
  pending = sure ? { ...warned, "!sure": "yes" } : Object.fromEntries(new FormData(form, event.submitter));
  submitted = form.dataset.move;
  hideWarning(form);
  keepPending();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  const line = form.querySelector("[data-error]");
  line.hidden = true;
  line.textContent = "";
  note.textContent = "";
  freeze(form, true);
  if (!send({ type: "move", fields: pending })) post(pending);
});

function showOutcome(message) {
  if (!pending || !["refused", "stale", "warning"].includes(message.type)) return;
  const sent = pending;
  pending = after = null;
  keepPending();
  freeze(formNamed(submitted), false);
  if (message.type === "warning") return showWarning(sent, message.words);
  if (message.type === "refused") showErrors(message.errors);
  else note.textContent = message.reason;
}

// An unusual but legal move: the page asks before sending it, and withdraws the question when the player changes anything.
function showWarning(sent, words) {
  const place = formNamed(submitted)?.querySelector("[data-warning]");
  if (!place) return;
  warned = sent;
  place.querySelector("p").textContent = words;
  place.hidden = false;
  place.querySelector("button").focus();
}

function hideWarning(form) {
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
    if (frame.outcome && pending === fields) showOutcome(frame.outcome);
    show(frame);
  } catch {
    failed = true;   // the next poll sends the pending move
  }
  showSendingState();
}

// ---- notes: saved while typing, without ending the turn -----------------------------------------------

const REST = 10000;
const isNote = (name) => formNamed(name)?.hasAttribute("data-note");
const hasText = (pad) => fieldsOf(pad).some((field) => field.value.trim());

// Saving a note renumbered the turn: keep the other drafts and any text added to the note since.
function keepLaterText(sent) {
  const pad = formNamed(submitted);
  const rest = fieldsOf(pad).map((field) => {
    const kept = sent[field.name] ?? "";
    return [field.name, field.value.startsWith(kept) ? field.value.slice(kept.length) : ""];
  });
  for (const field of fieldsOf(pad)) field.value = "";
  draft = { question: answering, forms: { ...draft.forms, [submitted]: rest } };
  stored(JSON.stringify(draft));
}

function submitNext() {
  const [name, button, value] = after;
  after = null;
  const form = formNamed(name);
  const submitter = [...(form?.querySelectorAll("button[type=submit]") ?? [])]
    .find((one) => one.name === (button ?? "") && one.value === (value ?? ""));
  form?.requestSubmit(submitter);
}

function saveNote(pad) {
  clearTimeout(saveTimer);
  if (pad.isConnected && !pending && hasText(pad)) pad.requestSubmit();
}

document.addEventListener("input", (event) => {
  const pad = event.target.form;
  if (!pad?.hasAttribute("data-pad")) return;
  clearTimeout(saveTimer);
  saveTimer = setTimeout(() => saveNote(pad), REST);
});
document.addEventListener("focusout", (event) => {
  const pad = event.target.form;
  if (pad?.hasAttribute("data-pad") && !pad.contains(event.relatedTarget) && !event.relatedTarget?.form) saveNote(pad);
});

// ---- drafts: typed text survives new frames and reloads ---------------------------------------------

const DRAFT = `parley ${token}`;
let draft = { question: answering, forms: {} };

// A recruiter's frame may block storage; then drafts last as long as the page.
function stored(words, place = DRAFT) {
  try {
    return words === undefined ? sessionStorage.getItem(place) : sessionStorage.setItem(place, words);
  } catch {
    return null;
  }
}

// An unsent move survives a reload and a visit to another page.
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
  if (kept?.question !== answering || !isOwnTurn() || !formNamed(kept.form)) return;
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
  hideWarning(form);
  if (draft.question !== answering) draft = { question: answering, forms: {} };
  const filled = fieldsOf(form).filter((field) => !["checkbox", "radio"].includes(field.type) || field.checked);
  draft.forms[form.dataset.move] = filled.map((field) => [field.name, field.value]);
  stored(JSON.stringify(draft));
});

// Remove an error when its field is edited; the server checks again.
document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (!form?.dataset.move || !event.target.hasAttribute("aria-invalid")) return;
  event.target.removeAttribute("aria-invalid");
  form.querySelector("[data-error]").hidden = true;
});

// Show how many characters are left in each message.
function count(area) {
  const place = document.getElementById(area.dataset.counted);
  if (place) place.textContent = place.dataset.words.replace("COUNT", (area.maxLength - area.value.length).toLocaleString("en-US"));
}
document.addEventListener("input", (event) => {
  if (event.target.matches("textarea[data-counted]")) count(event.target);
});
document.addEventListener("parley:screen", () => screen.querySelectorAll("textarea[data-counted]").forEach(count));

// Show the bonus for the offer being typed: the game reports the payoff, the study's pay rule converts it.
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
    disconnectedAt = unansweredSince = null;
    lost.textContent = "";
    if (pending) send({ type: "move", fields: pending });
  };
  made.onmessage = (event) => {
    lastMessageAt = Date.now();
    unansweredSince = null;
    const message = JSON.parse(event.data);
    if (message.type === "screen") show(message);
    else if (message.type === "marks") mark(message);
    else if (message.type === "draft") showTypedText(message);
    else if (message.type === "gone") location.reload();
    else showOutcome(message);
  };
  made.onclose = () => disconnect(made);
}

// Drop a closed or silent socket and reconnect with growing delays.
function disconnect(lostSocket) {
  if (lostSocket !== socket) return;
  socket = null;
  lostSocket.onmessage = lostSocket.onclose = lostSocket.onopen = null;
  lostSocket.close();
  if (over) return;
  disconnectedAt ??= Date.now();
  setTimeout(connect, wait * (0.75 + Math.random() / 2));
  wait = Math.min(wait * 2, 8000);
}

function send(message) {
  if (socket?.readyState !== WebSocket.OPEN) return false;
  socket.send(JSON.stringify(message));
  unansweredSince ??= Date.now();
  return true;
}

function sync() {
  lastRequestAt = Date.now();
  if (!send({ type: "sync", last })) post(pending);
}

setInterval(() => {
  tick();
  showNextStep();
  showSendingState();
  if (over) return;
  const now = Date.now();
  if (socket?.readyState !== WebSocket.OPEN) {
    if (now - disconnectedAt > LOST_AFTER) {
      const words = offline() ? lost.dataset.offline : lost.dataset.lost;
      if (lost.textContent !== words) lost.textContent = words;
    }
    if (now - lastRequestAt > POLL) sync();
  } else if (unansweredSince !== null && now - unansweredSince > SILENCE) {
    disconnect(socket);
  } else if (now - Math.max(lastRequestAt, lastMessageAt) > (!isOwnTurn() || pending ? SYNC_WAITING : SYNC_OWN_TURN)) {
    sync();
    if (pending) post(pending);   // the socket may be dead without an error
  }
}, 1000);

document.addEventListener("visibilitychange", () => {
  updateTitle();
  if (document.hidden || over) return;
  sync();
  setTimeout(() => { if (unansweredSince !== null && !over) post(pending); }, SOON);   // a phone may have closed the socket while asleep
});
window.addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });

try {
  const kept = JSON.parse(stored() ?? "null");
  if (kept?.question === answering) draft = kept;
} catch {
  // Ignore an unreadable draft.
}
restoreDraft();
document.dispatchEvent(new CustomEvent("parley:screen"));
restorePending();
for (const change of ["online", "offline"]) window.addEventListener(change, showSendingState);
setClock(clock.dataset.remaining, extended);
connect();
