"use strict";
// The cells of a table by keyboard: one of them is reached with Tab, the others with arrows, Home and End.
(() => {
  const cells = (row) => [...row.querySelectorAll("button.cell")];

  function move(from, to) {
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }

  function beside(row, step) {
    let next = row;
    do next = step > 0 ? next.nextElementSibling : next.previousElementSibling;
    while (next && !next.querySelector("button.cell"));
    return next;
  }

  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest?.("button.cell");
    if (!cell || event.altKey || event.ctrlKey || event.metaKey) return;
    const row = cell.closest("tr");
    const at = cells(row).indexOf(cell);
    const steps = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: cells(row).length - 1 };
    if (event.key in steps) move(cell, cells(row)[steps[event.key]]);
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const other = beside(row, event.key === "ArrowDown" ? 1 : -1);
      move(cell, other && cells(other)[at]);
    } else return;
    event.preventDefault();
  });

  // Who chooses a cell finds its story at once; where there is room beside the table, the place is kept.
  document.addEventListener("click", (event) => {
    const cell = event.target.closest?.("button.cell");
    if (!cell) return;
    document.querySelectorAll("button.cell[tabindex='0']").forEach((other) => { other.tabIndex = -1; });
    cell.tabIndex = 0;
    document.querySelectorAll("button.cell[aria-current]").forEach((other) => other.removeAttribute("aria-current"));
    cell.setAttribute("aria-current", "true");
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target.id === "cell" && matchMedia("(max-width: 64rem)").matches) event.target.scrollIntoView();
  });
})();
