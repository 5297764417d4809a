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
const STEP = `?step=${screen.dataset.step}`;   // a page left at an earlier match must not show a later one
const POLL = 3000, SILENCE = 12000, SLOW = 3000, LOST_AFTER = 1500, SOON = 2000, LONG_WAIT = 10000;
const DOUBLE_CLICK = 500, SERIES = 250, RELOADS = 1000;

let last = Number(screen.dataset.last);
let answering = screen.dataset.answering;
let over = screen.dataset.over === "1";
let shown = null;                     // the newest frame's HTML
let deadline = null;
let left = null;                      // seconds last shown
let heldUntil = 0;                    // until when a question pauses the clock at most
let extended = clock.dataset.extended === "1";
let absence = 0;                      // seconds for which the game waits for this player from when the connection is lost
let pending = null;                   // the move made but not yet confirmed
let madeAt = null;                    // when it was made
let heldAt = 0;                       // when the server last said that it is busy with what was sent
let submitted = null;                 // the name of its form
let after = null;                     // [form, name, value of its button]: sent once the note before it is saved
let saveTimer = 0;                    // the timer that saves a note when typing stops
let calmAt = 0, calming = 0;          // until when clicks do not count, and the timer
let warned = null;                    // the fields of the move that needs confirmation
let socket = null;
let wait = 500;                       // before the next attempt to connect
let lastMessageAt = Date.now();
let lastRequestAt = 0;
let requests = 0;                     // plain HTTP requests under way
let unansweredSince = null;           // when a message was sent that the socket has not answered
let disconnectedAt = Date.now();      // when the socket was lost; null while connected
let awaits = {};                      // the open turns of other seats' agents, by role
let waiting = null;                   // when that wait began
let announcedTurn = "";               // the turn for which "is writing" was announced

const isOwnTurn = () => answering !== "" && !over;

// ---- what is shown ----------------------------------------------------------------------------

function show(frame) {
  if (frame.last < last) return;
  const question = String(frame.answering ?? "");
  const same = question === answering;
  const changed = frame.last > last || !same || (shown !== null && frame.html !== shown);
  shown = frame.html;
  last = frame.last;
  answering = question;
  over = frame.over;
  if (changed) {
    const sent = pending;
    if (sent && sent.answering !== answering) pending = null;
    if (sent && !pending && !over && isNote(submitted)) keepLaterText(sent);
    Idiomorph.morph(screen, frame.html, { morphStyle: "innerHTML", ignoreActiveValue: same, callbacks: { beforeAttributeUpdated: mayChange } });
    restoreDraft();
    if (pending) freeze(formNamed(submitted), true);
    else keepPending();
    if (sent && !pending) refocus();
    if (sent?.["!replaces"]) confirmChange(sent["!replaces"]);
    if (!same && !(sent && isNote(submitted))) {
      absorbClicks(DOUBLE_CLICK);
      if (isOwnTurn()) turnToTask();
    }
    if (!pending && after) submitNext();
    startCountdowns();
    document.dispatchEvent(new CustomEvent("parley:screen"));
    if (!same) for (const record of [sight, tries]) record.begin();
    if (!same || over) announce(news());
  }
  awaits = frame.awaits;
  waiting = frame.waited === null ? null : Date.now() - frame.waited * 1000;
  absence = frame.absence_left ?? 0;
  setClock(frame.remaining, frame.extended, frame.held);
  showConnection();
  document.getElementById("continue").hidden = !over;
  updateTitle();
  if (over && socket) disconnect(socket);
}

// What the player has unfolded stays open.
const mayChange = (name, part) => !(name === "open" && part.localName === "details");
// On a phone, the task may be on the tab that is not shown (panes.js).
const turnToTask = () => document.dispatchEvent(new CustomEvent("parley:task"));

// The further clicks of a double click, or of a series, must not answer what has appeared after the first.
function absorbClicks(time) {
  calmAt = Math.max(calmAt, Date.now() + time);
  screen.classList.add("fresh");
  clearTimeout(calming);
  calming = setTimeout(() => screen.classList.remove("fresh"), calmAt - Date.now());
}
document.addEventListener("pointerdown", () => { if (screen.classList.contains("fresh")) absorbClicks(SERIES); });

// A sealed answer was replaced: its form now names the new one.
function confirmChange(replaced) {
  const place = screen.querySelector("details.change");
  if (!place || place.querySelector('[name="!replaces"]').value === replaced) return;
  place.open = false;
  place.nextElementSibling.hidden = false;
}

// The submitted form is gone, or asks something new: move the focus to the new screen, so that it does not suggest the
// last choice again. A field in which the player types keeps it.
function refocus() {
  const focused = document.activeElement;
  if (focused && focused !== document.body && !focused.matches("form.move:not([data-note]) :is(button, [type=radio], [type=checkbox])")) return;
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
  if (sent) showConnection();
  for (const button of form.querySelectorAll("button")) button.disabled = sent;
}

// ---- the connection: why it is lost, what is kept, and whether the clock runs, as far as the page can know ----

const asTime = (seconds) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

function showConnection() {
  const words = lost.dataset, failure = connection.failure, sent = pending && formNamed(submitted)?.querySelector("[data-sent]");
  let sentences = [];
  if (failure) {
    const kept = pending ? words.unsent : isOwnTurn() ? words.typed : !over && words.waiting;
    sentences = [words[failure], kept, isOwnTurn() && words[`${failure}Clock`], failure === "offline" && patience(words)];
  } else if (pending) {
    sentences = [words.sending, Date.now() - madeAt > SLOW && words.slow];
  } else if (disconnectedAt !== null && Date.now() - disconnectedAt > LOST_AFTER && !over) {
    sentences = [connection.reachedAt > disconnectedAt ? words.polling : words.connecting];
  }
  const text = sentences.filter(Boolean).join(" ");
  if (sent) write(sent, text);
  write(lost, sent ? "" : text);
}

// The game may wait beyond the deadline for a player who is lost; the words change every ten seconds, for screen readers.
function patience(words) {
  if (!isOwnTurn() || deadline === null) return "";
  const rest = (connection.reachedAt - Math.max(Date.now(), deadline)) / 1000 + absence;
  return rest < 10 ? "" : words.patience.replace("TIME", asTime(Math.floor(rest / 10) * 10));
}

function write(line, text) {
  if (line.textContent !== text) line.textContent = text;
}

// Without an answer from our server, the page does not know how much time is left: it shows what was left before.
const isClockUnknown = () => ["server", "unknown"].includes(connection.failure);

function setClock(remaining, extra, held = 0) {
  heldUntil = Date.now() + held * 1000;
  deadline = (remaining ?? "") === "" ? null : heldUntil + remaining * 1000;
  left = null;
  if (extra && !extended) announce(announcer.dataset.extra);
  extended = extra;
  tick();
}

function tick() {
  clock.hidden = deadline === null || !isOwnTurn();
  if (clock.hidden) return;
  const before = left, stopped = isClockUnknown(), now = stopped ? connection.reachedAt : Date.now(), held = now < heldUntil;
  left = Math.max(0, Math.round((deadline - Math.max(now, heldUntil)) / 1000));
  write(clock.firstElementChild, clock.dataset[stopped ? connection.failure : held ? "heldWords" : extended ? "extra" : "time"]);
  write(clock.lastElementChild, asTime(left));
  clock.classList.toggle("brief", !stopped && (held || !extended));
  clock.classList.toggle("held", held);
  clock.classList.toggle("short", !stopped && (extended || left <= 30));
  for (const mark of [10, 30]) if (before > mark && left <= mark && !stopped) announce(`${left} ${announcer.dataset.left}`);
  if (left === 0 && Date.now() - lastRequestAt > SOON) sync();
}

// Seconds that others have left, such as someone who has lost the connection.
function startCountdowns() {
  for (const place of screen.querySelectorAll("[data-countdown]")) place.until = Date.now() + place.dataset.countdown * 1000;
  countDown();
}

function countDown() {
  if (connection.failure) return;
  for (const place of screen.querySelectorAll("[data-countdown]")) {
    write(place, asTime(Math.max(0, Math.round((place.until - Date.now()) / 1000))));
  }
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
  if (place.hasAttribute("data-changeable")) sync(null);     // brings the form with which the answer can be changed
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
  if (waiting === null || connection.failure || Date.now() - waiting < LONG_WAIT) return;
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
  if (screen.classList.contains("fresh")) return;
  if (pending && isNote(submitted)) after = [form.dataset.move, event.submitter?.name, event.submitter?.value];
  if (pending) return;
  const open = form.hasAttribute("data-note") ? null : [...screen.querySelectorAll("form[data-pad]")].find(hasText);
  if (open) {
    after = [form.dataset.move, event.submitter?.name, event.submitter?.value];
    return open.requestSubmit();
  }
  const sure = event.submitter?.name === "!sure" && warned?.["!form"] === form.dataset.move;
  pending = sure ? { ...warned, "!sure": "yes" } : Object.fromEntries(new FormData(form, event.submitter));
  pending["!sight"] = sight.taken();
  pending["!tries"] = tries.taken();
  submitted = form.dataset.move;
  madeAt = Date.now();
  hideWarning(form);
  keepPending();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  const line = form.querySelector("[data-error]");
  line.hidden = true;
  line.textContent = "";
  note.textContent = "";
  freeze(form, true);
  if (!sendPending()) post(pending);
});

// The move tells its age, since one made in time counts although it arrives late.
const withAge = (fields) => ({ ...fields, "!age": String(Math.max(0, Date.now() - madeAt)) });
const sendPending = () => send({ type: "move", fields: withAge(pending) });

function showOutcome(message) {
  if (!pending || !["refused", "stale", "warning"].includes(message.type)) return;
  const sent = pending;
  pending = after = null;
  keepPending();
  freeze(formNamed(submitted), false);
  turnToTask();
  if (message.type === "warning") return showWarning(sent, message);
  if (message.type === "refused") showErrors(message.errors);
  else note.textContent = message.reason;
}

// An unusual or irreversible move: the page asks before sending it, and withdraws the question when the player changes anything.
function showWarning(sent, { words, button }) {
  const place = formNamed(submitted)?.querySelector("[data-warning]");
  if (!place) return;
  warned = sent;
  place.querySelector("p").textContent = words;
  place.hidden = false;
  place.querySelector("button").textContent = button;
  absorbClicks(DOUBLE_CLICK);
  place.querySelector("button").focus();
  place.scrollIntoView({ block: "nearest" });
}

function hideWarning(form) {
  warned = null;
  form.querySelector("[data-warning]").hidden = true;
}

async function post(fields) {
  lastRequestAt = Date.now();
  requests += 1;
  const body = fields ? new URLSearchParams(fields === pending ? withAge(fields) : fields) : undefined;
  try {
    const response = await connection.fetch(`match${STEP}`, { method: fields ? "POST" : "GET", body, headers: { Accept: "application/json" } });
    if (response.status === 404 || response.redirected) return reload();
    if (!response.ok) return;
    const frame = await response.json();
    if (frame.outcome && pending === fields) showOutcome(frame.outcome);
    show(frame);
  } catch {
    // The next poll sends the pending move.
  } finally {
    requests -= 1;
  }
}

// Follow what has changed on the server; a new page waits a moment, so that no error can make it reload in a loop.
function reload() {
  setTimeout(() => location.reload(), Math.max(0, RELOADS - performance.now()));
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
  stored(JSON.stringify(pending ? { question: answering, form: submitted, fields: pending, madeAt } : null), UNSENT);
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
  madeAt = kept.madeAt;
  freeze(formNamed(submitted), true);
}

function fieldsOf(form) {
  return [...form.elements].filter((field) => field.name && !["hidden", "submit"].includes(field.type));
}

function keepDraft(form) {
  if (!form?.dataset?.move) return;
  hideWarning(form);
  if (draft.question !== answering) draft = { question: answering, forms: {} };
  const filled = fieldsOf(form).filter((field) => !["checkbox", "radio"].includes(field.type) || field.checked);
  draft.forms[form.dataset.move] = filled.map((field) => [field.name, field.value]);
  stored(JSON.stringify(draft));
}
document.addEventListener("input", (event) => keepDraft(event.target.form));
document.addEventListener("parley:filled", (event) => keepDraft(event.target));   // by a script, at a click

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
  if (place) place.textContent = place.dataset.words.replace("COUNT", (area.maxLength - area.value.length).toLocaleString(document.documentElement.lang, { useGrouping: "always" }));
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
  place.textContent = place.dataset.words.replace("BONUS", line.written.replace(/0([.,])00/, (_zero, mark) => bonus.toFixed(2).replace(".", mark)));
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
  const made = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/play/${token}/${STEP}`);
  socket = made;
  lastMessageAt = Date.now();
  made.onopen = () => {
    unansweredSince = null;
    if (pending) sendPending();
  };
  made.onmessage = (event) => {
    lastMessageAt = Date.now();
    const message = JSON.parse(event.data);
    wait = 500;
    disconnectedAt = null;
    connection.reached();
    if (message.type === "here") return made.send(JSON.stringify({ type: "here", last }));
    unansweredSince = null;
    if (message.type === "screen") show(message);
    else if (message.type === "marks") mark(message);
    else if (message.type === "draft") showTypedText(message);
    else if (message.type === "message") document.dispatchEvent(new CustomEvent("parley:message"));
    else if (message.type === "chat") document.dispatchEvent(new CustomEvent("parley:chat", { detail: message }));
    else if (message.type === "busy") heldAt = Date.now();
    else if (message.type === "gone") reload();
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

function sync(known = last) {
  lastRequestAt = Date.now();
  if (!send({ type: "sync", last: known })) post(pending);
}

setInterval(() => {
  tick();
  countDown();
  showNextStep();
  showConnection();
  if (over) return;
  const now = Date.now(), isOpen = socket?.readyState === WebSocket.OPEN;
  // The server asks every few seconds whether the page is here: a silent socket is dead.
  if (socket && now - lastMessageAt > SILENCE) disconnect(socket);
  if (!requests && now - lastRequestAt > POLL && (!isOpen || (pending && now - Math.max(madeAt, heldAt) > SLOW))) post(pending);
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
document.addEventListener("parley:connection", () => {
  tick();
  showConnection();
  if (connection.failure === "offline" && socket) disconnect(socket);   // it is dead, though nothing says so
  if (!connection.failure) connect();
});
startCountdowns();
setClock(clock.dataset.remaining === "" ? null : Number(clock.dataset.remaining), extended, Number(clock.dataset.held));
connect();
