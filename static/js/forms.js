/** Small forms, such as Cancel on a run, are sent without leaving the page; the page hears what came of it. */

export function quietForms() {
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !("quiet" in form.dataset)) return;
    event.preventDefault();
    const button = form.querySelector("button");
    if (button) button.disabled = true;
    try {
      const answer = await fetch(form.action, { method: "POST", headers: { Accept: "application/json" } });
      if (answer.ok || answer.status === 409) return; // ended already: the page shows it in a moment
      throw new Error(String(answer.status));
    } catch {
      if (button) { button.disabled = false; button.textContent = "Try again"; }
    }
  });
}
