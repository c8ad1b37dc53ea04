/** What the reader sets for this browser: theme and details, kept in cookies so that the server renders them. */

function remember(/** @type {string} */ name, /** @type {string} */ value) {
  document.cookie = `${name}=${value}; path=/; max-age=31536000; samesite=lax`;
}

export function details() {
  const box = document.getElementById("details");
  if (!(box instanceof HTMLInputElement)) return;
  box.addEventListener("change", () => remember("postroom-details", box.checked ? "1" : "0"));
}

export function theme() {
  const form = document.querySelector("[data-theme-form]");
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember("postroom-theme", root.dataset.theme);
  });
}
