"use strict";
// The table of cells: searched, sorted and shown a page at a time, so that a hundred thousand of them stay quick.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { values, attributes, repairs } = data;
  const PAGE = 50;
  const BECAUSE = {
    bought: "bought", evidence: "own evidence", column: "column's most frequent", weighed: "weighed", own_evidence: "own evidence, free",
    pinned: "by hand",
  };
  const LONGEST = 240;
  const INVISIBLE = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;
  const FLAGS = ["", "own quotes", "its evidence", "not sure"];

  const count = data.row.length;
  const repairOf = new Uint32Array(count);
  let at = 0;
  repairs.cells.forEach((n, repair) => { repairOf.fill(repair, at, at + n); at += n; });
  const folded = values.map((value) => (value === null ? "" : value.toLowerCase()));

  const rank = (texts) => {
    const order = texts.map((_, i) => i);
    const collator = new Intl.Collator(undefined, { numeric: true });
    order.sort((a, b) => collator.compare(texts[a], texts[b]));
    const ranks = new Uint32Array(texts.length);
    order.forEach((i, place) => { ranks[i] = place; });
    return ranks;
  };
  let valueRanks = null;
  const valueRank = (value) => (valueRanks ??= rank(values.map((v) => v ?? "")))[value];
  const prices = repairs.price.map(Number);
  const rounded = (price) =>
    price.toLocaleString("en", price < 100 ? { maximumSignificantDigits: 4 } : { maximumFractionDigits: 2 });
  const isFree = (cell) => repairs.bought[repairOf[cell]] === null;
  const KEYS = {
    row: (cell) => data.row[cell],
    attribute: (cell) => repairs.attribute[repairOf[cell]],
    old: (cell) => valueRank(data.old[cell]),
    new: (cell) => valueRank(repairs.new[repairOf[cell]]),
    bought: (cell) => (isFree(cell) ? -1 : valueRank(repairs.bought[repairOf[cell]])),
    level: (cell) => (isFree(cell) ? -1 : repairs.level[repairOf[cell]]),
    price: (cell) => prices[repairOf[cell]],
    from: (cell) => (isFree(cell) ? -1 : valueRank(repairs.from[repairOf[cell]])),
    why: (cell) => Object.keys(BECAUSE).indexOf(repairs.why[repairOf[cell]]),
    flag: (cell) => (4 - Number(data.flag[cell])) % 4,
  };

  const find = (id) => document.getElementById(id);
  const search = find("search"), attribute = find("attribute"), flagged = find("flagged");
  const body = document.querySelector("#cells tbody");
  const state = { shown: [], page: 0, key: null, down: false };

  attributes.forEach((name, i) => {
    const option = document.createElement("option");
    option.value = String(i);
    option.textContent = name;
    attribute.append(option);
  });

  function filter() {
    const text = search.value.trim().toLowerCase();
    const only = attribute.value === "" ? -1 : Number(attribute.value);
    const hits = new Uint8Array(values.length);
    folded.forEach((value, i) => { hits[i] = value.includes(text) ? 1 : 0; });
    const repairHits = repairs.new.map((value, r) => hits[value] || hits[repairs.bought[r]] || hits[repairs.from?.[r]]);
    const number = /^(\d+|\d{1,3}(,\d{3})+)$/.test(text) ? Number(text.replaceAll(",", "")) : -1;
    const shown = [];
    for (let cell = 0; cell < count; cell++) {
      const repair = repairOf[cell];
      if (only >= 0 && repairs.attribute[repair] !== only) continue;
      if (flagged.checked && data.flag[cell] === "0") continue;
      if (text && !repairHits[repair] && !hits[data.old[cell]] && data.row[cell] !== number) continue;
      shown.push(cell);
    }
    state.shown = shown;
    state.page = 0;
    sort();
  }

  function sort() {
    if (state.key) {
      const key = KEYS[state.key], sign = state.down ? -1 : 1;
      const keys = new Map(state.shown.map((cell) => [cell, key(cell)]));
      state.shown.sort((a, b) => sign * (keys.get(a) - keys.get(b)) || a - b);
    } else {
      state.shown.sort((a, b) => a - b);
    }
    draw();
  }

  function marked(text, className) {
    const mark = document.createElement("span");
    mark.className = className;
    mark.textContent = text;
    return mark;
  }

  function* pieces(value) {
    for (const part of value.slice(0, LONGEST).split(new RegExp(`(${INVISIBLE.source})`))) {
      if (INVISIBLE.test(part)) yield marked(`U+${part.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`, "mark");
      else yield part;
    }
    if (value.length > LONGEST) yield marked(`… ${value.length.toLocaleString("en")} characters`, "rest");
  }

  function cellOf(row, content, className) {
    const element = row.insertCell();
    if (content === null) {
      element.textContent = "empty";
      element.className = "empty";
    } else {
      element.append(...pieces(content));
      if (className) element.className = className;
    }
    return element;
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(state.shown.length / PAGE));
    const from = state.page * PAGE;
    body.replaceChildren();
    for (const cell of state.shown.slice(from, from + PAGE)) {
      const repair = repairOf[cell], row = body.insertRow();
      cellOf(row, data.row[cell].toLocaleString("en"), "number");
      cellOf(row, attributes[repairs.attribute[repair]]);
      cellOf(row, values[data.old[cell]]);
      cellOf(row, values[repairs.new[repair]]);
      cellOf(row, isFree(cell) ? "" : values[repairs.bought[repair]]);
      cellOf(row, isFree(cell) ? "" : String(repairs.level[repair]), "number");
      cellOf(row, rounded(prices[repair]), "number");
      if (repairs.from) cellOf(row, isFree(cell) ? "" : values[repairs.from[repair]]);
      cellOf(row, BECAUSE[repairs.why[repair]], "why");
      const look = cellOf(row, "");
      if (data.flag[cell] !== "0") look.append(marked(FLAGS[Number(data.flag[cell])], "flag"));
    }
    const number = (n) => n.toLocaleString("en");
    find("found").textContent = `${number(state.shown.length)} of ${number(count)} ${count === 1 ? "cell" : "cells"}`;
    find("page").textContent = `page ${number(state.page + 1)} of ${number(pages)}`;
    find("previous").disabled = state.page === 0;
    find("next").disabled = state.page + 1 >= pages;
  }

  function turn(by) {
    state.page += by;
    draw();
  }

  let waiting = 0;
  search.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(filter, 80); });
  attribute.addEventListener("change", filter);
  flagged.addEventListener("change", filter);
  find("previous").addEventListener("click", () => turn(-1));
  find("next").addEventListener("click", () => turn(1));
  for (const button of document.querySelectorAll("#cells thead button")) {
    button.addEventListener("click", () => {
      const key = button.dataset.key;
      state.down = state.key === key && !state.down;
      state.key = key;
      state.page = 0;
      for (const head of document.querySelectorAll("#cells thead th")) head.removeAttribute("aria-sort");
      button.closest("th").setAttribute("aria-sort", state.down ? "descending" : "ascending");
      sort();
    });
  }
  filter();
})();
