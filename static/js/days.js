/** Day breaks between lines, by the calendar day in the reader's zone. */
import { dayOf } from "./times.js";

const long = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" });

/** Whether a break belongs between two instants in a zone. */
export function breaks(/** @type {string} */ before, /** @type {string} */ after, /** @type {string=} */ zone) {
  return dayOf(new Date(before), zone) !== dayOf(new Date(after), zone);
}

/** What a day is called: Today, Yesterday, or its date alone. */
export function label(/** @type {Date} */ at, now = new Date()) {
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1, 12);
  const day = dayOf(at);
  const name = long.format(at);
  if (day === dayOf(now)) return `Today, ${name}`;
  if (day === dayOf(yesterday)) return `Yesterday, ${name}`;
  return at.getFullYear() === now.getFullYear() ? name : `${name} ${at.getFullYear()}`;
}

/** Puts the breaks of a transcript where they belong, and takes away the others. */
export function days(/** @type {HTMLElement?} */ list) {
  if (!(list instanceof HTMLOListElement)) return;
  for (const old of list.querySelectorAll(":scope > .day")) old.remove();
  let last = "";
  for (const line of list.querySelectorAll(":scope > [data-at]")) {
    const at = /** @type {HTMLElement} */ (line).dataset.at ?? "";
    if (!last || breaks(last, at)) {
      const item = document.createElement("li");
      item.className = "day";
      item.id = `day-${dayOf(new Date(at))}`;
      const heading = document.createElement("h2");
      heading.textContent = label(new Date(at));
      item.append(heading);
      if (!document.getElementById(item.id)) line.before(item);
    }
    last = at;
  }
}
