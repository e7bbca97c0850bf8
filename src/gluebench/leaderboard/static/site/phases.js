// Counts the time until a deadline down, from the seconds that the server stated: this machine's clock may be wrong.
const left = document.getElementById("time-left");

function show(seconds) {
  const two = (number) => String(Math.floor(number)).padStart(2, "0");
  const days = Math.floor(seconds / 86400);
  const clock = [(seconds / 3600) % 24, (seconds / 60) % 60, seconds % 60].map(two).join(":");
  left.textContent = days ? `${days} day${days === 1 ? "" : "s"} ${clock}` : clock;
}

if (left) {
  const end = performance.now() + 1000 * Number(left.dataset.seconds);
  const timer = setInterval(() => {
    const seconds = Math.max(0, Math.floor((end - performance.now()) / 1000));
    show(seconds);
    if (!seconds) clearInterval(timer);
  }, 1000);
}
