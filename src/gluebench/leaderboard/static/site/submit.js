// What the form can do besides: take a dropped file, check it and send it without leaving the page, show how far it is.
const form = document.getElementById("submit-form");
const findings = document.getElementById("findings");
const wrong = document.getElementById("wrong");
const drop = document.getElementById("drop");
const dropped = document.getElementById("dropped");
const sending = document.getElementById("sending");
const input = form?.elements.upload;
const HINT = "You can also drop the file anywhere on this page.";
let sent = false;

if (dropped) dropped.textContent = HINT;

window.addEventListener("pageshow", () => rest());

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const use = event.submitter?.name === "use" ? event.submitter.value : "";
  if (!use && tooLarge()) return;
  if (event.submitter?.value === "check") check(event.submitter);
  else if (!sent) send(use); // a second click while the file is on its way
});

// A file dropped anywhere on the page is meant for the field; without this a browser would open it instead.
for (const kind of ["dragenter", "dragover"]) {
  window.addEventListener(kind, (event) => {
    if (!form || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    drop.dataset.over = "";
  });
}
window.addEventListener("dragleave", (event) => {
  if (!event.relatedTarget && drop) delete drop.dataset.over;
});
window.addEventListener("drop", (event) => {
  if (!form || !event.dataTransfer?.files.length) return;
  event.preventDefault();
  delete drop.dataset.over;
  if (event.dataTransfer.files.length > 1) {
    say("That was more than one file. Put the files into one zip, and drop that.");
    return;
  }
  input.files = event.dataTransfer.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
});
findings?.addEventListener("click", (event) => {
  if (event.target.closest("a[href='#id_upload']")) input.click();
});
input?.addEventListener("change", () => {
  const file = input.files[0];
  findings.replaceChildren();
  dropped.textContent = file ? `${file.name}, ${size(file.size)}` : HINT;
  tooLarge();
});

function size(bytes) {
  return bytes < 1024 ** 2 ? `${Math.max(1, Math.round(bytes / 1024))} kB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

async function check(button) {
  const file = input.files[0];
  if (!file) {
    say("Choose a file first.");
    input.focus();
    return;
  }
  const data = new FormData();
  data.set("action", "check");
  data.set("fragment", "1");
  data.set("upload", file);
  say(`Checking ${file.name} …`);
  button.disabled = true;
  const ask = () => {
    data.set("csrfmiddlewaretoken", form.elements.csrfmiddlewaretoken.value);
    return fetch(window.location.href, { method: "POST", body: data }).catch(() => null);
  };
  let answer = await ask();
  if (answer?.status === 403 && (await renewed())) answer = await ask();
  button.disabled = false;
  if (answer?.ok && !answer.redirected) findings.innerHTML = await answer.text();
  else if (answer?.status === 413) say("The file is larger than the site takes.");
  else if (answer?.redirected) say("You are not signed in any more. Sign in in another tab, then check again.");
  else say("The site did not answer; try again in a moment.");
}

// Who has signed in anew has a new token, which the page has when it is loaded again. False where it has none.
async function renewed() {
  const answer = await fetch(window.location.href).catch(() => null);
  const text = (await answer?.text().catch(() => "")) ?? "";
  const token = new DOMParser().parseFromString(text, "text/html").querySelector("#submit-form [name=csrfmiddlewaretoken]");
  if (token) form.elements.csrfmiddlewaretoken.value = token.value;
  return token !== null;
}

// XMLHttpRequest and not fetch, because only it tells how much of an upload has left. `use` names what the site kept.
function send(use, again = false) {
  const data = new FormData(form);
  data.set("action", "submit");
  if (use) {
    data.set("use", use);
    data.delete("upload");
  }
  clear();
  sent = true;
  const button = form.querySelector(".button:not(.quiet)");
  button.setAttribute("aria-busy", "true");
  const bar = document.getElementById("bar");
  const told = document.getElementById("sent-so-far");
  sending.hidden = false;
  bar.value = 0;
  told.textContent = `Sending ${(!use && input.files[0]?.name) || "it"} …`;
  const request = new XMLHttpRequest();
  request.open("POST", window.location.href);
  request.setRequestHeader("Accept", "application/json");
  request.upload.onprogress = (event) => {
    if (!event.lengthComputable) return;
    bar.value = (100 * event.loaded) / event.total;
    if (event.loaded === event.total) told.textContent = "Sent. The site is checking it …";
  };
  request.onerror = () => fail("The connection broke off. Press Submit again: the same file sent twice from this page is one submission.");
  request.onload = async () => {
    if (request.status === 403 && !again && (await renewed())) send(use, true);
    else answered(request);
  };
  request.send(data);
}

function answered(request) {
  const answer = parsed(request.responseText);
  if (answer?.url) {
    document.getElementById("sent-so-far").textContent = "It is in.";
    window.location.assign(answer.url);
  } else if (answer?.findings) {
    rest();
    findings.innerHTML = answer.findings;
    findings.focus({ preventScroll: true });
    findings.scrollIntoView();
  } else if (answer?.errors) {
    rest();
    show(answer.errors);
  } else if (answer?.message) fail(answer.message);
  else if (request.status === 413) fail("The file is larger than the site takes.");
  else if (request.responseURL !== window.location.href) fail("You are not signed in any more. Sign in in another tab, then press Submit again.");
  else fail(`The site could not take it (answer ${request.status}). Try again in a moment.`);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function fail(text) {
  rest();
  complain(text);
  wrong.scrollIntoView({ block: "center" });
}

function rest() {
  sent = false;
  if (sending) sending.hidden = true;
  form?.querySelector("[aria-busy]")?.removeAttribute("aria-busy");
}

// What the site found wrong, said at each field, as the page without a script has it.
function show(errors) {
  let first = null;
  for (const [name, said] of Object.entries(errors)) {
    const named = form.elements[name];
    const field = named instanceof RadioNodeList ? named[0] : named;
    const place = field?.closest(".field");
    if (!place) {
      complain(said.join(" "));
      continue;
    }
    place.dataset.wrong = "";
    const folded = place.closest("details");
    if (folded) folded.open = true;
    const list = document.createElement("div");
    list.id = `${field.id}_script_error`;
    list.className = "from-script";
    for (const text of said) list.append(Object.assign(document.createElement("p"), { className: "error", textContent: text }));
    place.append(list);
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", `${field.getAttribute("aria-describedby") ?? ""} ${list.id}`.trim());
    first ??= field;
  }
  if (first) {
    complain("Nothing was sent: see the marked fields below. Your file is still chosen.");
    first.focus();
  }
}

function clear() {
  wrong.replaceChildren();
  for (const list of form.querySelectorAll(".from-script")) list.remove();
  for (const place of form.querySelectorAll("[data-wrong]")) delete place.dataset.wrong;
  for (const field of form.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    const about = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => !id.endsWith("_script_error"));
    field.setAttribute("aria-describedby", about.join(" "));
  }
}

function complain(text) {
  wrong.append(Object.assign(document.createElement("p"), { className: "errors", textContent: text }));
}

// The server hangs up on a file that is too large, so it is said before it is sent.
function tooLarge() {
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
