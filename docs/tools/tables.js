// Let the keyboard scroll a wide table: the theme wraps it in an element that cannot be focused.
addEventListener("load", () => {
  for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
    wrap.tabIndex = 0;
  }
});
