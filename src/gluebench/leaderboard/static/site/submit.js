// The free check without leaving the page, so that the chosen file stays chosen.
const form = document.getElementById("submit-form");
const findings = document.getElementById("findings");
let sent = false;

window.addEventListener("pageshow", () => {
  sent = false;
  form?.querySelector("[aria-busy]")?.removeAttribute("aria-busy");
});

form?.addEventListener("submit", async (event) => {
  if (tooLarge(form.elements.upload)) {
    event.preventDefault();
    return;
  }
  if (event.submitter?.value !== "check") {
    if (sent) event.preventDefault(); // a second click while the file is on its way
    sent = true;
    form.querySelector(".button:not(.quiet)").setAttribute("aria-busy", "true");
    return;
  }
  event.preventDefault();
  const data = new FormData();
  const file = form.elements.upload.files[0];
  if (!file) {
    say("Choose a file first.");
    form.elements.upload.focus();
    return;
  }
  data.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
  data.set("action", "check");
  data.set("fragment", "1");
  data.set("upload", file);
  say(`Checking ${file.name} …`);
  event.submitter.disabled = true;
  const answer = await fetch(window.location.href, { method: "POST", body: data }).catch(() => null);
  event.submitter.disabled = false;
  if (answer?.ok && !answer.redirected) findings.innerHTML = await answer.text();
  else if (answer?.status === 413) say("The file is larger than the site takes.");
  else say("The site did not answer; reload the page and try again.");
});

// The server hangs up on a file that is too large, so it is said before it is sent.
function tooLarge(input) {
  const large = input.files[0]?.size > Number(input.dataset.most);
  if (large) {
    say(`The file is larger than ${input.dataset.most / 1024 ** 2} MB, the most that this site takes.`);
    input.focus();
  }
  return large;
}

function say(text) {
  findings.replaceChildren(Object.assign(document.createElement("p"), { textContent: text }));
}
