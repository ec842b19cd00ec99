// Sets the colour scheme before the first paint, so that nothing flashes.
(function () {
  var stored = null;
  try {
    stored = localStorage.getItem("svc-scheme");
  } catch (e) {
    // Storage may be off; the system's choice is used.
  }
  var dark = stored === "dark" || (stored !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");
})();
