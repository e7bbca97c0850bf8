// A submission that waits: ask where it stands, reload once when that changed for good.
const panel = document.getElementById("progress");
const position = document.getElementById("position");
let pause = 700;

async function look() {
  const answer = await fetch(panel.dataset.address).catch(() => null);
  if (answer?.ok) {
    const now = await answer.json();
    if (now.final) {
      window.location.reload();
      return;
    }
    panel.querySelector("h2").textContent = now.label;
    position.textContent =
      now.stalled ? `${now.stalled} It is graded when that changes.`
      : now.status === "running" ? "This takes a few seconds."
      : now.position > 1 ? `It is number ${now.position} in the queue, or earlier: people and benchmarks take turns.`
      : "It is next.";
  }
  pause = Math.min(pause * 1.3, 5000);
  setTimeout(look, pause);
}

if (panel) setTimeout(look, pause);
