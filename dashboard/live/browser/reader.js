// Fetches what the page's places hold: once at each run of the page, and on and on while there is more to come.

class Reader {
  static PATIENCE = 2000; // milliseconds between two requests to refresh the same layout
  static UNSEEN = 2; // seconds between two looks while the browser's tab is hidden
  static TOLERATED = 2; // failures in a row before the user is told
  static LONGEST = 5; // seconds between two tries

  constructor() {
    this.parts = new Map(); // by DOM node
    this.asked = { time: -Infinity };
    this.bar = new AddressBar((query) => this.send?.("navigate", query));
    this.forget();
    document.addEventListener("visibilitychange", () => document.hidden || (this.timer && this.look()));
  }

  forget() {
    this.contents = new Map(); // by place: JSON, or a chart's bytes
    this.since = 0;
    this.failures = 0;
    this.seconds = 1;
    this.faded = false;
  }

  // A page ran. `send` reaches its script.
  follow(node, feed, send) {
    if (feed.address !== this.feed?.address) this.forget();
    Object.assign(this, { node, feed, send });
    this.bar.show(pathOf(new URL(feed.path, BASE)), feed.link, feed.title);
    setAttribute(node, "data-state", "looking"); // for whoever waits until all is there: "rest"
    this.look();
  }

  leave(node) {
    if (node !== this.node) return;
    this.pause();
    this.forget();
    this.bar.leave();
    this.node = this.feed = this.send = undefined;
  }

  mount(node, data, send) {
    let part = this.parts.get(node);
    if (part?.isFor(data)) part.restyle();
    else {
      part?.dispose();
      part = new Part(node, data);
      this.parts.set(node, part);
      part.fade(this.faded);
      if (this.contents.has(part.place)) part.show(this.contents.get(part.place));
    }
    part.renderer.send = (value) => send("event", value);
  }

  unmount(node) {
    this.parts.get(node)?.dispose();
    this.parts.delete(node);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.looking?.abort();
  }

  // One look, and the next when its time has come. A look that a newer one overtook has no effect.
  async look() {
    this.pause();
    const { signal } = (this.looking = new AbortController());
    const begin = performance.now();
    const answer = await ask(this.feed, this.since, signal).catch((error) => ({ error }));
    if (signal.aborted) return;
    const seconds = this.take(answer);
    if (seconds === null) return;
    const rest = 1000 * (document.hidden ? Math.max(seconds, Reader.UNSEEN) : seconds) - (performance.now() - begin);
    this.timer = setTimeout(() => this.look(), Math.max(rest, 50)); // the server needs room for others
  }

  // Seconds until the next look; null if nothing more will come by itself.
  take({ status, news }) {
    if (status === 205 || status === 404) this.refresh();
    this.failures = status === 200 || status === 205 ? 0 : this.failures + 1;
    this.tell(status);
    if (news) this.fill(news);
    const state = news ? (news.busy ? "busy" : "rest") : status === 205 ? "refresh" : "trouble";
    setAttribute(this.node, "data-state", state);
    if (this.failures) return Math.min(this.failures, Reader.LONGEST);
    return state === "rest" ? null : this.seconds;
  }

  fill(news) {
    this.since = news.last;
    this.seconds = news.seconds;
    this.faded = news.faded;
    for (const place of news.gone) this.contents.delete(place);
    const fresh = new Map([...Object.entries(news.parts), ...news.charts]);
    for (const [place, content] of fresh) this.contents.set(place, content);
    for (const part of this.parts.values()) {
      part.fade(news.faded);
      if (fresh.has(part.place)) part.show(fresh.get(part.place));
    }
  }

  // Have the page run again. This takes a while, so the same layout is not reported at each look.
  refresh() {
    if (this.bar.isLeaving()) return;
    const now = performance.now();
    if (this.asked.mark === this.feed.mark && now - this.asked.time < Reader.PATIENCE) return;
    this.asked = { mark: this.feed.mark, time: now };
    this.send("refresh", true);
  }

  tell(status) {
    const error = "The server cannot update this page; the server's log has the details.";
    const trouble = status === 500 ? error : "The server does not answer.";
    setText(this.node, this.failures > Reader.TOLERATED ? `${trouble} Trying again …` : "");
  }
}

// News are the header's length (uint32), the header (JSON), and the charts' messages, whose sizes the header gives.
async function ask(feed, since, signal) {
  const query = new URLSearchParams({ since, mark: feed.mark });
  const response = await fetch(new URL(`${feed.address}?${query}`, BASE), { cache: "no-store", signal });
  if (response.status !== 200) return { status: response.status };
  const bytes = new Uint8Array(await response.arrayBuffer());
  let end = 4 + new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  const charts = Object.entries(header.charts).map(([place, size]) => [place, bytes.subarray(end, (end += size))]);
  return { status: 200, news: { ...header, charts } };
}
