// A page that waits for a grading or for ranks: ask for the state, reload once when it is final.
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
    const now = await answer.json();
    if (now.final) {
      if (!leaving) finish();
      return;
    }
    if (position) {
      panel.querySelector("h2").textContent = now.label;
      position.textContent =
        now.stalled ? `${now.stalled} It is graded when that changes.`
        : now.status === "running" ? "This takes a few seconds."
        : now.position > 1 ? `It is number ${now.position} in the queue, or earlier: people and benchmarks take turns.`
        : "It is next.";
    }
  }
  pause = Math.min(pause * 1.3, 5000);
  setTimeout(look, pause);
}

// A board in which somebody has sorted, searched or opened a row stays as it is.
function finish() {
  if (position || !used) {
    window.location.reload();
    return;
  }
  const link = document.createElement("a");
  link.href = window.location.href;
  link.textContent = "Load the page again";
  panel.firstElementChild.replaceChildren("The rank sets are there. ", link);
}

if (panel) setTimeout(look, pause);
