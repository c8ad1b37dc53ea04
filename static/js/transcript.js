/** A transcript keeps its place: at the end it follows, above it nothing moves. */
import { times } from "./times.js";
import { days } from "./days.js";

/** How near the end counts as at the end, in pixels. */
const near = 48;

export function transcript(/** @type {HTMLElement} */ scroll) {
  const list = /** @type {HTMLElement} */ (scroll.querySelector("#transcript"));
  const button = /** @type {HTMLButtonElement?} */ (document.querySelector("[data-new-lines]"));
  let unseen = 0;

  // The list is laid out from its end, so scrollTop is 0 there and negative above.
  const atEnd = () => Math.abs(scroll.scrollTop) < near;
  const toEnd = () => { scroll.scrollTop = 0; };

  function tell() {
    if (!button) return;
    button.hidden = unseen === 0;
    const words = button.querySelector("span");
    if (words) words.textContent = unseen === 1 ? "1 new line" : `${unseen} new lines`;
  }

  button?.addEventListener("click", () => { toEnd(); unseen = 0; tell(); scroll.focus({ preventScroll: true }); });
  scroll.addEventListener("scroll", () => { if (atEnd() && unseen) { unseen = 0; tell(); } }, { passive: true });

  /** Adds an item at the end. Whoever reads above is not moved. */
  function append(/** @type {Element} */ item) {
    const follow = atEnd();
    const before = scroll.scrollHeight;
    const top = scroll.scrollTop;
    list.querySelector(":scope > .nothing")?.remove();
    times(item);
    list.append(item);
    days(list);
    if (follow) { toEnd(); return; }
    // Where the browser did not keep the place by itself, do it in the same frame.
    const grown = scroll.scrollHeight - before;
    if (scroll.scrollTop === top) scroll.scrollTop = top - grown;
    unseen += 1;
    tell();
  }

  older(scroll, list);
  if (location.hash === "#end") toEnd();
  return { append, toEnd, list };
}

/** Older lines come when their link comes into view; the link works by itself too. */
function older(/** @type {HTMLElement} */ scroll, /** @type {HTMLElement} */ list) {
  let busy = false;
  async function load(/** @type {HTMLAnchorElement} */ link) {
    if (busy) return;
    busy = true;
    const item = /** @type {HTMLElement} */ (link.closest("li"));
    item.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = [...page.querySelectorAll("#transcript > li")].filter((li) => !li.id || !document.getElementById(li.id));
      const top = scroll.scrollTop;
      for (const li of fresh) {
        if (li.matches(".older") && !li.querySelector("[data-older]")) continue;
        times(li);
        item.before(li);
      }
      item.remove();
      days(list);
      scroll.scrollTop = top;
      watch();
    } catch {
      item.removeAttribute("aria-busy");
      link.textContent = "The older lines didn’t come. Try again";
    }
    busy = false;
  }
  const seen = new IntersectionObserver((entries) => {
    for (const e of entries) if (e.isIntersecting) { seen.unobserve(e.target); load(/** @type {HTMLAnchorElement} */ (e.target)); }
  }, { root: scroll, rootMargin: "300px" });
  function watch() {
    const link = list.querySelector("[data-older]");
    if (!(link instanceof HTMLAnchorElement)) return;
    link.addEventListener("click", (event) => { event.preventDefault(); load(link); });
    seen.observe(link);
  }
  watch();
}
