// How far a run is, and a row of figures. Called at each update: only what changed is set.
// A tile that is clicked, or reached with the keyboard, explains itself below the row.

const rows = new WeakMap();

export default function ({ data, parentElement }) {
  const node = parentElement.querySelector(".live-tiles");
  if (!rows.has(node)) rows.set(node, new Row(node));
  rows.get(node).update(data.tiles);
  set(parentElement.querySelector(".live-status-text"), data.text);
  const bar = parentElement.querySelector("progress");
  bar.hidden = data.share === null;
  bar.value = data.share ?? 0;
}

class Row {
  constructor(node) {
    this.node = node;
    this.help = node.parentElement.querySelector(".live-tiles-help");
    node.addEventListener("focusin", ({ target }) => this.explain(target.closest(".live-tile")));
    node.addEventListener("focusout", () => this.explain(null));
  }

  update(tiles) {
    while (this.node.children.length > tiles.length) this.node.lastElementChild.remove();
    while (this.node.children.length < tiles.length) this.node.append(newTile());
    tiles.forEach((tile, i) => fill(this.node.children[i], tile));
  }

  explain(tile) {
    set(this.help, tile?.title ?? "");
  }
}

function newTile() {
  const tile = document.createElement("div");
  tile.className = "live-tile";
  tile.tabIndex = 0;
  tile.setAttribute("role", "group");
  for (const part of ["label", "value", "beside"]) {
    const piece = document.createElement("span");
    piece.className = part;
    tile.append(piece);
  }
  return tile;
}

function fill(tile, { label, value, beside, help }) {
  [label, value, beside].forEach((text, i) => set(tile.children[i], text));
  if (tile.title !== help) tile.title = help;
}

function set(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
