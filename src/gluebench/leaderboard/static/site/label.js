// While the choices have the focus, a number chooses; Enter sends, as in every form.
const form = document.getElementById("answer");
const choices = form ? [...form.querySelectorAll('input[name="label"]')] : [];

form?.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const chosen = choices[Number(event.key) - 1];
  if (!chosen || !/^[1-9]$/.test(event.key)) return;
  event.preventDefault();
  chosen.checked = true;
  chosen.focus();
});

// A second click while the answer is on its way would answer the next pair unread.
let sent = false;
form?.addEventListener("submit", (event) => {
  if (sent) event.preventDefault();
  sent = true;
});
window.addEventListener("pageshow", () => { sent = false; });
