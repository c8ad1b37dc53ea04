/** Single keys outside fields: J K lines, E the last line, D details, G M mailboxes, G S seats, / write. */

export function keys() {
  if (localStorage.getItem("postroom-keys") === "off") return;
  let leader = 0;
  document.addEventListener("keydown", (event) => {
    const at = /** @type {HTMLElement} */ (event.target);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === "Escape" && location.hash === "#side") { location.hash = "#main"; return; }
    if (at.closest("input, textarea, select, [contenteditable]")) return;
    const key = event.key.toLowerCase();
    if (Date.now() - leader < 1500) {
      leader = 0;
      if (key === "m") location.href = "/";
      if (key === "a") location.href = "/activity";
      if (key === "s") location.href = "/seats";
      return;
    }
    if (key === "g") { leader = Date.now(); return; }
    if (key === "/" ) { event.preventDefault(); document.getElementById("body")?.focus(); return; }
    if (key === "d") { document.getElementById("details")?.click(); return; }
    if (key === "e") { move(Infinity); return; }
    if (key === "j") move(1);
    if (key === "k") move(-1);
  });
}

/** Moves the focus among the lines. */
function move(/** @type {number} */ by) {
  const lines = [...document.querySelectorAll("#transcript > [data-at]")].filter((l) => /** @type {HTMLElement} */ (l).offsetParent !== null);
  if (lines.length === 0) return;
  const now = lines.indexOf(/** @type {Element} */ (document.activeElement?.closest("#transcript > [data-at]")));
  const start = now < 0 ? lines.length - (by < 0 ? 0 : 1) - by : now;
  const next = /** @type {HTMLElement} */ (lines[Math.min(lines.length - 1, Math.max(0, by === Infinity ? lines.length - 1 : start + by))]);
  next.tabIndex = -1;
  next.focus();
}
