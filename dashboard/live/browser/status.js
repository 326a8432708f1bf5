// The progress of work, and a row of tiles. A tile that is clicked or reached with the keyboard shows its help below the
// row.

class Status {
  constructor(root) {
    this.text = element("p", "live-status-text");
    this.bar = element("progress", "live-status-bar");
    this.tiles = element("div", "live-tiles");
    this.help = element("p", "live-tiles-help");
    this.text.setAttribute("role", "status");
    this.help.setAttribute("role", "status");
    this.bar.setAttribute("aria-label", "Progress");
    this.bar.max = 1;
    root.append(this.text, this.bar, this.tiles, this.help);
    this.tiles.addEventListener("focusin", ({ target }) => this.explain(target.closest(".live-tile")));
    this.tiles.addEventListener("focusout", () => this.explain(null));
  }

  show({ text, share, tiles }) {
    setText(this.text, text);
    this.bar.hidden = share === null;
    if (this.bar.value !== (share ?? 0)) this.bar.value = share ?? 0;
    sized(this.tiles, tiles.length, newTile);
    tiles.forEach((tile, i) => fillTile(this.tiles.children[i], tile));
    if (this.tiles.contains(document.activeElement)) this.explain(document.activeElement);
  }

  explain(tile) {
    setText(this.help, tile?.title ?? "");
  }
}

function newTile() {
  const tile = element("div", "live-tile", ...["label", "value", "beside"].map((part) => element("span", part)));
  tile.tabIndex = 0;
  tile.setAttribute("role", "group");
  return tile;
}

function fillTile(tile, { label, value, beside, help }) {
  [label, value, beside].forEach((text, i) => setText(tile.children[i], text));
  setAttribute(tile, "title", help);
}
