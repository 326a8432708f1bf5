// Fetches the content of the page's places: once in each run of the page, and again and again while the view is busy.

class Reader {
  static REFRESH_INTERVAL = 2000; // milliseconds between two requests to run the page again for the same layout
  static HIDDEN_INTERVAL = 2; // seconds between two requests while the browser's tab is hidden
  static MOST_FAILURES = 2; // consecutive failures before a message appears
  static LONGEST_INTERVAL = 5; // seconds between two attempts after failures

  constructor() {
    this.parts = new Map(); // by DOM node
    this.lastRefresh = { time: -Infinity };
    this.bar = new AddressBar((query) => this.send?.("navigate", query));
    this.forget();
    document.addEventListener("visibilitychange", () => document.hidden || (this.timer && this.request()));
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
    this.bar.show(pathOf(new URL(feed.path, BASE)), feed.link);
    setAttribute(node, "data-state", "requesting"); // tests wait for "rest"
    this.request();
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
    if (data.content) part.show(data.content);
    part.renderer.send = (value) => send("event", value);
    part.renderer.askCloser = (range, signal) => askCloser(this.feed, data.place, range, signal);
    part.renderer.figureAddress = (form, ranges) => figureAddress(this.feed, data.place, form, ranges);
  }

  unmount(node) {
    this.parts.get(node)?.dispose();
    this.parts.delete(node);
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.requesting?.abort();
  }

  // Request changes now, and again later. A request that a newer request replaced has no effect.
  async request() {
    this.pause();
    const { signal } = (this.requesting = new AbortController());
    const begin = performance.now();
    const answer = await ask(this.feed, this.since, signal).catch((error) => ({ error }));
    if (signal.aborted) return;
    const seconds = this.take(answer);
    if (seconds === null) return;
    const rest = 1000 * (document.hidden ? Math.max(seconds, Reader.HIDDEN_INTERVAL) : seconds) - (performance.now() - begin);
    this.timer = setTimeout(() => this.request(), Math.max(rest, 20)); // leaves time for other requests
  }

  // The seconds until the next request; null if the view will not change without an event.
  take({ status, changes }) {
    if (status === 205 || status === 404) this.refresh();
    this.failures = status === 200 || status === 205 ? 0 : this.failures + 1;
    this.showTrouble(status);
    if (changes) this.fill(changes);
    const state = changes ? (changes.busy ? "busy" : "rest") : status === 205 ? "refresh" : "trouble";
    setAttribute(this.node, "data-state", state);
    if (this.failures) return Math.min(this.failures, Reader.LONGEST_INTERVAL);
    return state === "rest" ? null : this.seconds;
  }

  fill(changes) {
    this.since = changes.last;
    this.seconds = changes.seconds;
    this.faded = changes.faded;
    for (const place of changes.gone) this.contents.delete(place);
    const fresh = new Map([...Object.entries(changes.parts), ...changes.charts]);
    for (const [place, content] of fresh) this.contents.set(place, content);
    for (const part of this.parts.values()) {
      part.fade(changes.faded);
      if (fresh.has(part.place)) part.show(fresh.get(part.place));
    }
  }

  // Make the page run again. This takes time, so the same layout is not reported with each request.
  refresh() {
    if (this.bar.isLeaving()) return;
    const now = performance.now();
    if (this.lastRefresh.mark === this.feed.mark && now - this.lastRefresh.time < Reader.REFRESH_INTERVAL) return;
    this.lastRefresh = { mark: this.feed.mark, time: now };
    this.send("refresh", true);
  }

  showTrouble(status) {
    const error = "The server cannot update this page. The server's log has the details.";
    const trouble = status === 500 ? error : "The server does not answer.";
    setText(this.node, this.failures > Reader.MOST_FAILURES ? `${trouble} Trying again …` : "");
  }
}

// The message of a chart from one x to another, as bytes; null if the server has none.
async function askCloser(feed, place, [from, to], signal) {
  const query = new URLSearchParams({ from, to });
  const response = await fetch(new URL(`${feed.address}/closer/${place}?${query}`, BASE), { cache: "no-store", signal });
  return response.status === 200 ? new Uint8Array(await response.arrayBuffer()) : null;
}

// Where the chart at a place is as a file in this form, with the ranges that the user chose.
function figureAddress(feed, place, form, { xaxis, yaxis }) {
  const query = new URLSearchParams({ form, ...(xaxis && { x: xaxis.join() }), ...(yaxis && { y: yaxis.join() }) });
  return `${feed.address}/figure/${encodeURIComponent(place)}?${query}`;
}

// An answer consists of the header's length (uint32), the header (JSON), and the charts' messages. The header has their
// sizes.
async function ask(feed, since, signal) {
  const query = new URLSearchParams({ since, mark: feed.mark });
  const response = await fetch(new URL(`${feed.address}?${query}`, BASE), { cache: "no-store", signal });
  if (response.status !== 200) return { status: response.status };
  const bytes = new Uint8Array(await response.arrayBuffer());
  let end = 4 + new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, end)));
  const charts = Object.entries(header.charts).map(([place, size]) => [place, bytes.subarray(end, (end += size))]);
  return { status: 200, changes: { ...header, charts } };
}
