/** Times in the reader's zone, and elapsed times that tick. */

/** How long ago, as the server writes it: 2:14, 5 h, 1 d. */
export function took(/** @type {number} */ ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 3600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

/** The calendar day of an instant in a zone, as yyyy-mm-dd. */
export function dayOf(/** @type {Date} */ at, /** @type {string=} */ zone) {
  const parts = new Intl.DateTimeFormat("en-CA", { timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit" });
  return parts.format(at);
}

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" });
const date = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

function show(/** @type {HTMLTimeElement} */ el, now = Date.now()) {
  const at = new Date(el.dateTime);
  if (Number.isNaN(at.getTime())) return;
  const kind = el.dataset.show;
  if (kind === "elapsed") {
    const text = took(now - at.getTime());
    if (el.textContent !== text) el.textContent = text;
    return;
  }
  const today = dayOf(at) === dayOf(new Date(now));
  el.textContent = kind === "clock" || today ? clock.format(at) : `${date.format(at)} ${clock.format(at)}`;
  el.title = full.format(at);
}

/** Shows every time inside a node as the reader's own. */
export function times(/** @type {ParentNode} */ root) {
  for (const el of root.querySelectorAll("time[data-show]")) show(/** @type {HTMLTimeElement} */ (el));
}

setInterval(() => {
  const now = Date.now();
  for (const el of document.querySelectorAll('time[data-show="elapsed"]')) show(/** @type {HTMLTimeElement} */ (el), now);
}, 1000);
