// Swagger's choices of a parameter have no name, its long examples cannot be scrolled by keyboard, and each of its
// tables of responses is a landmark.
new MutationObserver(() => {
  for (const choice of document.querySelectorAll("tr[data-param-name] select:not([aria-label])")) {
    choice.setAttribute("aria-label", choice.closest("tr").dataset.paramName);
  }
  for (const example of document.querySelectorAll("pre.microlight:not([tabindex])")) example.tabIndex = 0;
  for (const table of document.querySelectorAll("table[role=region]")) table.removeAttribute("role");
}).observe(document.getElementById("swagger-ui"), { childList: true, subtree: true });
