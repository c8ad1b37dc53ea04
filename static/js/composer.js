/** The form that posts: Enter sends, a draft survives, a failed send is never doubled. */

/** Whether a key press sends. Nothing is sent while an input method composes. */
export function sends(/** @type {KeyboardEvent} */ event) {
  if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return false;
  return event.ctrlKey || event.metaKey || !event.shiftKey;
}

/** The most bytes of a post's body. */
export const most = 64 * 1024;

export function composer(/** @type {HTMLFormElement} */ form, /** @type {{toEnd(): void}?} */ view) {
  const text = /** @type {HTMLTextAreaElement} */ (form.querySelector("textarea"));
  const key = /** @type {HTMLInputElement} */ (form.elements.namedItem("key"));
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button[type=submit]"));
  const kept = /** @type {HTMLElement} */ (form.querySelector(".draft"));
  const error = /** @type {HTMLElement} */ (form.querySelector("[data-error]"));
  const words = button.textContent;
  const place = `postroom-draft:${form.dataset.draft}`;

  // The key is kept with the draft, so that a send whose answer was lost can be
  // made again, after a reload too, without posting twice.
  function keep() {
    try {
      if (!text.value) localStorage.removeItem(place);
      else localStorage.setItem(place, JSON.stringify({ text: text.value, key: key.value }));
      kept.textContent = text.value ? `Draft kept ${new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }).format(new Date())}` : "";
    } catch { kept.textContent = ""; }
  }
  try {
    const draft = JSON.parse(localStorage.getItem(place) ?? "null");
    if (draft && !text.value) {
      text.value = draft.text;
      key.value = draft.key;
      kept.textContent = "Draft kept";
    }
  } catch { /* a draft that cannot be read is none */ }

  function fail(/** @type {string} */ message, /** @type {string} */ code) {
    const p = /** @type {HTMLElement} */ (error.querySelector("p"));
    /** @type {HTMLElement} */ (p.querySelector("span")).textContent = message;
    /** @type {HTMLElement} */ (p.querySelector("code")).textContent = code;
    error.hidden = false;
    button.textContent = "Try again";
  }

  let busy = false;
  async function send() {
    if (busy || !text.value.trim()) return;
    const body = text.value;
    if (new TextEncoder().encode(body).length > most) {
      fail("A post is at most 64 KiB. Shorten it, or send it in parts; your text is kept.", "body-too-large");
      return;
    }
    busy = true;
    form.setAttribute("aria-busy", "true");
    keep();
    try {
      const answer = await fetch(form.action, {
        method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(/** @type {any} */ (new FormData(form))),
      });
      const said = await answer.json().catch(() => ({}));
      if (!answer.ok) {
        fail(said.error?.message ?? "The server did not take it. Your text is kept.", said.error?.code ?? String(answer.status));
        // A refusal is final for this key; the text may be changed and sent anew.
        if (answer.status < 500) { key.value = newKey(); keep(); }
      } else {
        if (text.value === body) text.value = "";
        key.value = newKey();
        keep();
        error.hidden = true;
        button.textContent = words;
        view?.toEnd();
      }
    } catch {
      fail("The server can’t be reached. Your text is kept; sending again posts it once.", "unreachable");
    }
    busy = false;
    form.removeAttribute("aria-busy");
  }

  text.addEventListener("input", () => { keep(); error.hidden = true; button.textContent = words; });
  text.addEventListener("keydown", (event) => {
    if (!sends(event)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
    text.focus();
  });
}

function newKey() {
  return `web-${[...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
}
