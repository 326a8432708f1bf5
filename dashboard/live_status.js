// How far a run is, and a row of figures. Called at each refresh of the page: only what changed is set.
// A tile that is clicked, or reached with the keyboard, explains itself below the row.

const rows = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const node = parentElement.querySelector(".live-tiles");
  if (!rows.has(node)) rows.set(node, new Row(parentElement, node));
  const row = rows.get(node);
  row.update(data);
  row.reader.follow(data.feed, () => setTriggerValue("refresh", true));
  // Streamlit also runs this when newer data overtakes a call: only a node that has left the page is done with.
  return () => node.isConnected || row.reader.follow(null);
}

class Row {
  constructor(parent, node) {
    this.node = node;
    this.text = parent.querySelector(".live-status-text");
    this.bar = parent.querySelector("progress");
    this.help = parent.querySelector(".live-tiles-help");
    this.reader = new Reader((news) => this.update(news));
    node.addEventListener("focusin", ({ target }) => this.explain(target.closest(".live-tile")));
    node.addEventListener("focusout", () => this.explain(null));
  }

  update({ text, share, tiles }) {
    set(this.text, text);
    this.bar.hidden = share === null;
    this.bar.value = share ?? 0;
    while (this.node.children.length > tiles.length) this.node.lastElementChild.remove();
    while (this.node.children.length < tiles.length) this.node.append(newTile());
    tiles.forEach((tile, i) => fill(this.node.children[i], tile));
  }

  explain(tile) {
    set(this.help, tile?.title ?? "");
  }
}

// Reads the feed that the page was last refreshed with, if any. What it has no answer to, the page is to be refreshed
// for: asked again only after a while, as a refresh takes its time.
class Reader {
  static PATIENCE = 2000; // milliseconds

  constructor(show) {
    this.show = show;
  }

  follow(feed, refresh) {
    this.feed = feed;
    this.refresh = refresh;
    this.since = feed?.since;
    this.asked = -Infinity;
    if (feed && !this.reading) this.read();
  }

  async read() {
    this.reading = true;
    while (this.feed) {
      const begin = performance.now();
      const feed = this.feed;
      const news = await fetchNews(feed.address, this.since).catch(() => null); // offline, or not the feed's answer
      if (feed === this.feed) this.take(news); // else the page was refreshed meanwhile: this may be older
      const rest = 1000 * feed.seconds - (performance.now() - begin);
      await new Promise((resolve) => setTimeout(resolve, rest));
    }
    this.reading = false;
  }

  take(news) {
    if (news) {
      this.since = news.last;
      this.show(news);
      for (const [place, message] of news.charts) {
        const detail = { detail: message };
        document.querySelector(`.live-chart[data-place="${place}"]`)?.dispatchEvent(new CustomEvent("news", detail));
      }
    } else if (performance.now() - this.asked > Reader.PATIENCE) {
      this.asked = performance.now();
      this.refresh();
    }
  }
}

// News are the header's length (uint32), the header (JSON), and the charts' messages, whose sizes the header gives.
async function fetchNews(address, since) {
  const response = await fetch(new URL(`${address}?since=${since}`, base()), { cache: "no-store" });
  if (response.status !== 200) return null;
  const bytes = new Uint8Array(await response.arrayBuffer());
  let end = 4 + new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  const charts = Object.entries(header.charts).map(([place, size]) => [place, bytes.subarray(end, (end += size))]);
  return { ...header, charts };
}

// The app's own address, also behind a path prefix: the folder that holds Streamlit's static/ files.
function base() {
  return new URL("../../", document.querySelector('script[src*="static/js/"]')?.src ?? new URL("/a/b/", location));
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
