// A page that waits for a worker: ask for the state, reload once when it is final.
const panel = document.getElementById("progress");
const position = document.getElementById("position");
let pause = 700;
let leaving = false;
let used = false;
addEventListener("beforeunload", () => { leaving = true; });
for (const kind of ["click", "input"]) addEventListener(kind, () => { used = true; }, { once: true });

async function look() {
  const answer = await fetch(panel.dataset.address).catch(() => null);
  if (answer?.ok) {
    const now = await stateIn(answer);
    if (now.final) {
      if (!leaving) finish();
      return;
    }
    if (position) {
      panel.querySelector("h2").textContent = now.label;
      position.textContent =
        now.stalled ? `${now.stalled} It is graded when that changes.`
        : now.status === "running" ? ""
        : now.position > 1 ? `It is number ${now.position} in the queue, or earlier: people and benchmarks take turns.`
        : "It is next.";
    }
  }
  pause = Math.min(pause * 1.3, 5000);
  setTimeout(look, pause);
}

// The state as JSON; or the page itself, which waits for as long as it has this panel.
async function stateIn(answer) {
  if (answer.headers.get("content-type").startsWith("application/json")) return answer.json();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { final: !page.getElementById("progress") };
}

// A board in which somebody has sorted or opened a row, or a form in which somebody types, stays as it is.
function finish() {
  const { stay } = panel.dataset;
  if (!stay || !used) {
    window.location.reload();
    return;
  }
  const link = document.createElement("a");
  link.href = window.location.href;
  link.textContent = "Load the page again";
  panel.firstElementChild.replaceChildren(`${stay} `, link);
}

if (panel) setTimeout(look, pause);
