// Samplers × targets with a verdict in each cell. A click on a cell shows its findings; the arrow beside a sampler's name
// checks its row. The Tab key reaches one cell; arrow keys move between cells.

class Matrix {
  constructor(root) {
    this.head = element("tr");
    this.body = element("tbody");
    const table = element("table", "", element("thead", "", this.head), this.body);
    table.setAttribute("aria-label", "Verdicts by sampler and target");
    table.addEventListener("click", ({ target }) => this.clicked(target.closest("button")));
    table.addEventListener("keydown", (event) => this.moved(event));
    const box = element("div", "verdicts", table);
    box.tabIndex = -1;
    root.append(box);
  }

  show(content) {
    const { columns, lines } = content;
    sized(this.head, columns.length + 1, () => headCell("col"));
    columns.forEach(({ title }, i) => setText(this.head.children[i + 1], title));
    sized(this.body, lines.length, newLine);
    lines.forEach((line, i) => fillLine(this.body.children[i], line, content));
  }

  clicked(button) {
    if (button?.dataset.row) this.send({ row: [button.dataset.row] });
    if (button?.dataset.cell) this.send({ chosen: JSON.parse(button.dataset.cell) });
  }

  moved(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const cell = event.target.closest("td");
    if (!step || !cell) return;
    const row = this.body.rows[cell.parentElement.sectionRowIndex + step[0]];
    const button = row?.cells[cell.cellIndex + step[1]]?.querySelector("[data-cell]");
    if (!button) return;
    event.preventDefault();
    button.focus();
  }
}

function fillLine(row, line, { columns, chosen, canRun }) {
  const [name, run] = row.firstElementChild.children;
  setText(name.firstElementChild, line.title);
  setText(name.lastElementChild, line.note);
  setAttribute(run, "data-row", line.name);
  run.disabled = !canRun;
  explain(run, `Check ${line.title} on all targets`);
  sized(row, columns.length + 1, newSquare);
  line.squares.forEach((square, i) => {
    const button = row.children[i + 1].firstElementChild;
    const isChosen = chosen[0] === line.name && chosen[1] === columns[i].name;
    setAttribute(button, "data-cell", JSON.stringify([line.name, columns[i].name]));
    setAttribute(button, "data-state", square.state);
    setAttribute(button, "aria-disabled", square.state === "none");
    setAttribute(button, "aria-pressed", isChosen);
    setAttribute(button, "tabindex", isChosen ? 0 : -1);
    [square.symbol, square.word, square.detail].forEach((text, j) => setText(button.children[j], text));
    explain(button, `${line.title}, ${columns[i].title}: ${square.word}. ${square.help}`);
  });
}

function newLine() {
  const run = element("button", "run", "▶");
  run.type = "button";
  const head = headCell("row");
  head.append(element("span", "sampler", element("span"), element("span", "note")), run);
  return element("tr", "", head);
}

function newSquare() {
  const button = element("button", "square", ...["symbol", "word", "detail"].map((part) => element("span", part)));
  button.type = "button";
  return element("td", "", button);
}

function explain(node, text) {
  setAttribute(node, "title", text);
  setAttribute(node, "aria-label", text);
}
