"use strict";
// Says so when a part of the page could not be had: nothing was changed on it then.
(() => {
  function say(text) {
    const line = document.createElement("p");
    line.className = "notice bad";
    line.textContent = text;
    document.getElementById("notices")?.replaceChildren(line);
  }
  document.addEventListener("htmx:sendError", () => say("No answer: is the program still running? Try again."));
  document.addEventListener("htmx:timeout", () => say("No answer in time. Try again."));
  document.addEventListener("htmx:responseError", (event) => {
    const { status, responseText } = event.detail.xhr;
    const plain = (event.detail.xhr.getResponseHeader("Content-Type") ?? "").startsWith("text/plain");
    say(plain && responseText ? responseText.slice(0, 300) : `That did not work (${status}). Load the page again.`);
  });
  document.addEventListener("htmx:afterOnLoad", (event) => {
    if (event.detail.successful) document.getElementById("notices")?.replaceChildren();
  });
})();
