// Samplers × targets. Called at each update: only what changed is set, so that focus and scrolling stay.
// One cell is in the order of tabs; arrow keys move between cells.

const tables = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const node = parentElement.querySelector("table");
  if (!tables.has(node)) tables.set(node, new Matrix(node));
  tables.get(node).update(data, setTriggerValue);
}

class Matrix {
  constructor(node) {
    this.head = node.querySelector("thead tr");
    this.body = node.querySelector("tbody");
    node.addEventListener("click", ({ target }) => this.clicked(target.closest("button")));
    node.addEventListener("keydown", (event) => this.moved(event));
  }

  update(data, send) {
    this.send = send;
    sized(this.head, data.columns.length + 1, () => element("th"));
    data.columns.forEach(({ title }, i) => set(this.head.children[i + 1], title));
    sized(this.body, data.lines.length, newLine);
    data.lines.forEach((line, i) => this.fill(this.body.children[i], line, data));
  }

  fill(row, line, { columns, chosen, canRun }) {
    const [name, run] = row.firstElementChild.children;
    set(name.firstElementChild, line.title);
    set(name.lastElementChild, line.note);
    run.dataset.row = line.name;
    run.disabled = !canRun;
    label(run, `Check ${line.title} on all targets`);
    sized(row, columns.length + 1, newSquare);
    line.squares.forEach((square, i) => {
      const button = row.children[i + 1].firstElementChild;
      const isChosen = chosen[0] === line.name && chosen[1] === columns[i].name;
      button.dataset.cell = JSON.stringify([line.name, columns[i].name]);
      if (button.dataset.state !== square.state) button.dataset.state = square.state;
      button.setAttribute("aria-disabled", square.state === "none");
      [square.symbol, square.word, square.detail].forEach((text, j) => set(button.children[j], text));
      button.setAttribute("aria-pressed", isChosen);
      button.tabIndex = isChosen ? 0 : -1;
      label(button, `${line.title}, ${columns[i].title}: ${square.word}. ${square.help}`);
    });
  }

  clicked(button) {
    if (button?.dataset.row) this.send("row", [button.dataset.row]);
    if (button?.dataset.cell) this.send("chosen", JSON.parse(button.dataset.cell));
  }

  moved(event) {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const place = event.target.closest("td");
    if (!step || !place) return;
    const row = this.body.rows[place.parentElement.sectionRowIndex + step[0]];
    const button = row?.cells[place.cellIndex + step[1]]?.querySelector("[data-cell]");
    if (!button) return;
    event.preventDefault();
    button.focus();
  }
}

function newLine() {
  const row = element("tr");
  const head = element("th");
  head.scope = "row";
  const name = element("span", "sampler");
  name.append(element("span"), element("span", "note"));
  const run = element("button", "run");
  run.type = "button";
  run.textContent = "▶";
  head.append(name, run);
  row.append(head);
  return row;
}

function newSquare() {
  const place = element("td");
  const button = element("button", "square");
  button.type = "button";
  for (const part of ["symbol", "word", "detail"]) button.append(element("span", part));
  place.append(button);
  return place;
}

function element(tag, className = "") {
  const made = document.createElement(tag);
  made.className = className;
  return made;
}

function sized(node, n, make) {
  while (node.children.length > n) node.lastElementChild.remove();
  while (node.children.length < n) node.append(make());
}

function label(node, text) {
  if (node.title === text) return;
  node.title = text;
  node.setAttribute("aria-label", text);
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
