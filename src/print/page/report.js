// Filters, sorts and highlights the table of configurations together with the marks that stand for its rows. The page
// is complete without this script. A row is identified by its place: its number in the table as the page was loaded.
"use strict";
(() => {
  const table = document.getElementById("rows");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const placeOfRow = new Map(rows.map((row, place) => [row.dataset.row, place]));

  // For each place, the elements of the figures that stand for the row.
  const marks = rows.map(() => []);
  for (const mark of document.querySelectorAll("svg [data-row]")) marks[placeOfRow.get(mark.dataset.row)]?.push(mark);

  // The place of the row that an element is in or stands for; undefined if there is none.
  function placeAt(element) {
    return placeOfRow.get(element.closest("[data-row]")?.dataset.row);
  }

  // The value of a cell; null for a cell without a value.
  function valueIn(cell, isNumber) {
    const text = cell.textContent.trim();
    if (text === "" || text === "-") return null;
    const value = isNumber ? Number(text) : text;
    return Number.isNaN(value) ? null : value;
  }

  function readColumn(head, index) {
    const isNumber = head.dataset.kind === "number";
    const values = rows.map((row) => valueIn(row.cells[index], isNumber));
    return { head, isNumber, values, different: new Set(values.filter((value) => value !== null)) };
  }

  const columns = [...table.tHead.rows[0].cells].map(readColumn);

  function make(name, properties, ...children) {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  }

  // --- Conditions. A row is kept if every condition holds. A filter or a brush has a condition while it is set.

  const conditions = new Map();
  const isOut = new Uint8Array(rows.length);
  let frame = 0;

  function setCondition(owner, condition) {
    if (condition) conditions.set(owner, condition);
    else conditions.delete(owner);
    frame ||= requestAnimationFrame(applyConditions);
  }

  function applyConditions() {
    frame = 0;
    const tests = [...conditions.values()];
    for (let place = 0; place < rows.length; ++place) {
      setOut(place, tests.every((test) => test(place)) ? 0 : 1);
    }
    sayHowMany();
    showFirst(kRowsAtFirst);
  }

  function setOut(place, out) {
    if (isOut[place] === out) return;
    isOut[place] = out;
    rows[place].classList.toggle("out", out === 1);
    for (const mark of marks[place]) mark.classList.toggle("out", out === 1);
  }

  function countKept() {
    return isOut.reduce((count, out) => count - out, rows.length);
  }

  function sayHowMany() {
    document.getElementById("shown").textContent = `${countKept()} of ${rows.length} configurations`;
  }

  // --- Only the first kept rows are laid out until the reader asks for all, because browsers take half a second for
  // thousands. In print, all rows are there.

  const kRowsAtFirst = 200;
  let order = rows.map((_, place) => place);
  const isLater = new Uint8Array(rows.length);
  const showAllButton = make("button", { type: "button", id: "show-all" });

  function showFirst(limit) {
    let before = 0;
    for (const place of order) {
      setLater(place, before >= limit ? 1 : 0);
      before += 1 - isOut[place];
    }
    showAllButton.hidden = before <= limit;
    showAllButton.textContent = `Show all ${before} rows`;
    keepARowInTheTabOrder();
  }

  function setLater(place, later) {
    if (isLater[place] === later) return;
    isLater[place] = later;
    rows[place].classList.toggle("later", later === 1);
  }

  function addShowAll() {
    table.parentElement.after(showAllButton);
    showAllButton.addEventListener("click", () => showFirst(rows.length));
  }

  // --- Filters by column. Each resets itself when the page's "Reset" button is pressed.

  const kMostChoices = 12;
  const kFiltersInView = 8;
  const kMostLetters = 200;
  const resets = [];

  const collator = new Intl.Collator("en", { numeric: true });

  function shortened(text) {
    return text.length > kMostLetters ? text.slice(0, kMostLetters) + "…" : text;
  }

  function fieldset(column, ...children) {
    return make("fieldset", {}, make("legend", {}, shortened(column.head.textContent)), ...children);
  }

  // A filter by ticked values. While nothing is ticked, every value is kept.
  function choiceFilter(column) {
    const ticked = new Set();
    const boxes = [];
    const labels = [...column.different].sort(collator.compare).map((text) => {
      const box = make("input", { type: "checkbox", autocomplete: "off" });
      box.addEventListener("change", () => {
        if (box.checked) ticked.add(text);
        else ticked.delete(text);
        setCondition(column, ticked.size > 0 ? (place) => ticked.has(column.values[place]) : null);
      });
      boxes.push(box);
      return make("label", {}, box, shortened(text));
    });
    resets.push(() => {
      ticked.clear();
      for (const box of boxes) box.checked = false;
      setCondition(column, null);
    });
    return fieldset(column, ...labels);
  }

  // A filter by range. An empty input is no limit. A row without a value is kept only if both inputs are empty.
  function rangeFilter(column) {
    const numbers = [...column.different];
    const makeLimit = (number) =>
      make("input", { type: "number", step: "any", autocomplete: "off", placeholder: String(number) });
    const least = makeLimit(numbers.reduce((a, b) => Math.min(a, b)));
    const most = makeLimit(numbers.reduce((a, b) => Math.max(a, b)));
    const update = () => {
      const from = least.value === "" ? -Infinity : least.valueAsNumber;
      const to = most.value === "" ? Infinity : most.valueAsNumber;
      const within = (place) => {
        const value = column.values[place];
        return value !== null && value >= from && value <= to;
      };
      setCondition(column, least.value === "" && most.value === "" ? null : within);
    };
    for (const limit of [least, most]) limit.addEventListener("input", update);
    resets.push(() => {
      least.value = most.value = "";
      update();
    });
    return fieldset(column, make("label", {}, "min", least), make("label", {}, "max", most));
  }

  function filterOf(column) {
    if (column.different.size < 2) return [];
    if (column.isNumber) return [rangeFilter(column)];
    return column.different.size <= kMostChoices ? [choiceFilter(column)] : [];
  }

  function resetButton() {
    const button = make("button", { type: "button" }, "Reset");
    button.addEventListener("click", () => resets.forEach((reset) => reset()));
    return button;
  }

  function addFilters() {
    const area = document.getElementById("filters");
    // Choices come first; columns with few values, such as parameters, come before those with many.
    const orderOf = ({ isNumber, different }) => (isNumber ? rows.length : 0) + different.size;
    const filters = [...columns].sort((a, b) => orderOf(a) - orderOf(b)).flatMap(filterOf);
    area.append(...filters.slice(0, kFiltersInView));
    if (filters.length > kFiltersInView) {
      const rest = make("div", {}, ...filters.slice(kFiltersInView));
      area.append(make("details", {}, make("summary", {}, "More filters"), rest));
    }
    area.append(resetButton());
    area.hidden = false;
  }

  // --- Sorting. Rows without a value come last in both directions.

  function compareValues(a, b) {
    return typeof a === "number" ? a - b : collator.compare(a, b);
  }

  function sortBy(column, direction) {
    order = rows.map((_, place) => place).sort((i, j) => {
      const a = column.values[i];
      const b = column.values[j];
      if (a === null || b === null) return (a === null) - (b === null) || i - j;
      return direction * compareValues(a, b) || i - j;
    });
    body.append(...order.map((place) => rows[place]));
    for (const { head } of columns) head.removeAttribute("aria-sort");
    column.head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    putInTabOrder(null);
    showFirst(kRowsAtFirst);
  }

  function addSorting(column) {
    const button = make("button", { type: "button" }, ...column.head.childNodes);
    button.addEventListener("click", () => {
      sortBy(column, column.head.getAttribute("aria-sort") === "ascending" ? -1 : 1);
    });
    column.head.append(button);
  }

  // --- All rows together are one stop of the Tab key. Arrow keys, Home and End move between rows.

  let rowInTabOrder = null;

  function isShown(row) {
    return !row.classList.contains("out") && !row.classList.contains("later");
  }

  function putInTabOrder(row) {
    if (rowInTabOrder) rowInTabOrder.tabIndex = -1;
    rowInTabOrder = row;
    if (row) row.tabIndex = 0;
  }

  function keepARowInTheTabOrder() {
    if (!rowInTabOrder || !isShown(rowInTabOrder)) putInTabOrder([...body.rows].find(isShown) ?? null);
  }

  function rowAfterKey(key, row) {
    const shown = [...body.rows].filter(isShown);
    const index = shown.indexOf(row);
    return { ArrowDown: shown[index + 1], ArrowUp: shown[index - 1], Home: shown[0], End: shown.at(-1) }[key];
  }

  function addKeys() {
    body.addEventListener("keydown", (event) => {
      const next = rowAfterKey(event.key, event.target);
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
  }

  // --- Highlights, in all figures, the row under the pointer and the row that has the focus.

  let pointed;
  let focused;

  function setHot(place, hot) {
    if (place === undefined) return;
    rows[place].classList.toggle("hot", hot);
    for (const mark of marks[place]) {
      mark.classList.toggle("hot", hot);
      if (hot && mark.matches(".line")) raise(mark);
    }
  }

  // Raises a line above the other lines, but keeps it below the axes with their brushes.
  function raise(line) {
    const firstAxis = line.parentNode.querySelector(":scope > .axis");
    if (line.nextElementSibling !== firstAxis) line.parentNode.insertBefore(line, firstAxis);
  }

  function highlight(nextPointed, nextFocused) {
    for (const place of [pointed, focused]) {
      if (place !== nextPointed && place !== nextFocused) setHot(place, false);
    }
    [pointed, focused] = [nextPointed, nextFocused];
    for (const place of [pointed, focused]) setHot(place, true);
  }

  function addHighlights() {
    for (const row of rows) row.tabIndex = -1;
    document.addEventListener("pointerover", (event) => {
      const place = placeAt(event.target);
      if (place !== pointed) highlight(place, focused);
    });
    body.addEventListener("focusin", (event) => {
      putInTabOrder(event.target);
      highlight(pointed, placeAt(event.target));
    });
    document.addEventListener("click", (event) => {
      const mark = event.target.closest("svg [data-row]");
      if (mark) select(placeAt(mark));
    });
    document.body.classList.add("live");
  }

  function select(place) {
    if (place === undefined) return;
    if (isLater[place]) showFirst(rows.length);
    rows[place].scrollIntoView({ block: "center", inline: "nearest" });
    rows[place].focus({ preventScroll: true });
  }

  // --- Brushes on the axes of a parallel plot. A line has one vertex on each axis, in the order of the axes.

  const kBrushHalfWidth = 12;
  const kAboveAxis = 6;
  const kBelowAxis = 26; // lines without a value pass below the axis

  // The y coordinate of each vertex.
  function heightsOf(line) {
    return line.getAttribute("d").slice(1).split("L").map((vertex) => Number(vertex.split(",")[1]));
  }

  // For each axis and place, the y at which the row's line meets the axis; NaN if the row has no line.
  function readHeights(plot, axisCount) {
    const heights = Array.from({ length: axisCount }, () => new Float64Array(rows.length).fill(NaN));
    for (const line of plot.querySelectorAll(".line[data-row]")) {
      const place = placeAt(line);
      if (place === undefined) continue;
      heightsOf(line).forEach((y, axis) => (heights[axis][place] = y));
    }
    return heights;
  }

  function addBrush(axis, heights) {
    const [x, top, bottom] = [axis.dataset.x, axis.dataset.top, axis.dataset.bottom].map(Number);
    const brush = d3.brushY().extent([
      [x - kBrushHalfWidth, top - kAboveAxis],
      [x + kBrushHalfWidth, bottom + kBelowAxis],
    ]);
    // Asks for the selection, because versions of D3 differ in how they pass the event.
    brush.on("start brush end", function () {
      const range = d3.brushSelection(this);
      setCondition(axis, range && ((place) => heights[place] >= range[0] && heights[place] <= range[1]));
    });
    const group = d3.select(axis).append("g").attr("class", "brush").call(brush);
    resets.push(() => group.call(brush.move, null));
  }

  function addBrushes(plot) {
    const axes = [...plot.querySelectorAll(".axis[data-x]")];
    const heights = readHeights(plot, axes.length);
    axes.forEach((axis, index) => addBrush(axis, heights[index]));
  }

  addFilters();
  columns.forEach(addSorting);
  addHighlights();
  addKeys();
  addShowAll();
  document.querySelectorAll("svg.parallel").forEach(addBrushes);
  applyConditions();
})();
