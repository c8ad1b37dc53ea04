/** The page's one websocket: a log that resumes by the last seq held, and state that is replaced whole. */
import { times } from "./times.js";

/** Close codes after which coming back makes no sense, and what to say. */
const final = { 4400: "This page asked for something that isn’t there. Reload it.", 4401: "You are signed out.", 4403: "You may no longer see this." };

export function live(/** @type {HTMLElement} */ body, /** @type {{append(e: Element): void}?} */ view) {
  const topics = body.dataset.topics;
  if (!topics) return;
  const wanted = new URLSearchParams(topics);
  let epoch = body.dataset.epoch ?? "";
  let tries = 0;
  const sign = document.getElementById("live");

  function state(/** @type {string} */ name) {
    if (!sign) return;
    sign.hidden = false;
    sign.dataset.state = name;
    sign.textContent = name === "on" ? "Live" : "Reconnecting";
  }

  function connect() {
    wanted.set("epoch", epoch);
    const url = new URL("/live", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    url.search = wanted.toString();
    const socket = new WebSocket(url);
    socket.onmessage = (event) => { tries = 0; state("on"); apply(JSON.parse(event.data)); };
    socket.onclose = (event) => {
      if (event.code in final) { stopped(final[/** @type {keyof typeof final} */ (event.code)]); return; }
      state("off");
      // Spread, so that a restart is not met by everybody at once.
      const wait = Math.min(15000, 250 * 2 ** tries) * (0.5 + Math.random());
      tries += 1;
      setTimeout(connect, wait);
    };
  }

  function stopped(/** @type {string} */ why) {
    if (sign) { sign.hidden = false; sign.dataset.state = "off"; sign.textContent = why; }
    say(why);
  }

  function apply(/** @type {any} */ frame) {
    switch (frame.type) {
      case "hello": epoch = frame.epoch; break;
      case "line":
        if (frame.seq <= Number(wanted.get("after") ?? 0)) break;
        wanted.set("after", String(frame.seq));
        add(frame.html);
        break;
      case "cursor":
        if (frame.seq > Number(wanted.get("after") ?? 0)) wanted.set("after", String(frame.seq));
        break;
      case "append": add(frame.html); break;
      case "state": replace(frame.id, frame.html); break;
      case "reset": location.reload(); break;
    }
  }

  function add(/** @type {string} */ html) {
    const item = parse(html);
    if (!item || document.getElementById(item.id)) return;
    if (view) view.append(item);
    else { document.querySelector("#transcript > .nothing")?.remove(); times(item); document.getElementById("transcript")?.append(item); }
    for (const el of item.querySelectorAll("[id]")) {
      const newer = early.get(el.id);
      if (newer) { early.delete(el.id); replace(el.id, newer); }
    }
    const writer = item.querySelector(".line-head b")?.textContent;
    if (writer) heard(writer);
  }

  connect();
}

function parse(/** @type {string} */ html) {
  const t = document.createElement("template");
  t.innerHTML = html;
  return t.content.firstElementChild;
}

/** Replaces one part of the page, keeping focus and open details where they are. */
function replace(/** @type {string} */ id, /** @type {string} */ html) {
  const old = document.getElementById(id);
  const fresh = parse(html);
  if (!old) { keepEarly(id, html); return; }
  if (!fresh) return;
  const swap = () => {
    const now = document.getElementById(id);
    if (!now) return;
    const open = [...now.querySelectorAll("details")].flatMap((d, i) => (d.open ? [i] : []));
    times(fresh);
    // What is pushed knows no reader, so the page marks its own place.
    for (const a of fresh.querySelectorAll("a.box-link")) if (a.getAttribute("href") === location.pathname) a.setAttribute("aria-current", "page");
    const focused = document.activeElement && now.contains(document.activeElement) ? document.activeElement.closest("[id]")?.id : "";
    now.replaceWith(fresh);
    const all = fresh.querySelectorAll("details");
    for (const i of open) all[i]?.setAttribute("open", "");
    if (focused) (document.getElementById(focused) ?? document.getElementById("main"))?.focus();
  };
  // Nothing moves under a finger: wait until the pointer has left, 4 s at most.
  if (old.matches(":hover") && old.querySelector("button") && matchMedia("(hover: hover)").matches) {
    const pending = /** @type {any} */ (old);
    clearTimeout(pending.wait);
    const done = () => { clearTimeout(pending.wait); pending.onpointerleave = null; swap(); };
    pending.onpointerleave = done;
    pending.wait = setTimeout(done, 4000);
    return;
  }
  swap();
}

/** State of a line that has not come yet: the log and the state are told apart. @type {Map<string, string>} */
const early = new Map();

function keepEarly(/** @type {string} */ id, /** @type {string} */ html) {
  if (!id.startsWith("status-")) return;
  early.set(id, html);
  if (early.size > 100) early.delete(/** @type {string} */ (early.keys().next().value));
}

/** @type {string[]} */
let waiting = [];
let last = 0;
let timer = 0;

/** Tells of new lines politely, at most every three seconds. */
function heard(/** @type {string} */ writer) {
  waiting.push(writer);
  clearTimeout(timer);
  timer = setTimeout(() => {
    last = Date.now();
    const who = [...new Set(waiting)].join(", ");
    say(waiting.length === 1 ? `New line from ${who}` : `${waiting.length} new lines, from ${who}`);
    waiting = [];
  }, Math.max(300, 3000 - (Date.now() - last)));
}

function say(/** @type {string} */ words) {
  const region = document.getElementById("say");
  if (region) region.textContent = words;
}
