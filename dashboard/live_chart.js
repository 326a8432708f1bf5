// One Plotly chart in one DOM node. Streamlit calls the default export when the component mounts, at new data and at
// a change of theme. The first call draws, every later one is a Plotly.react: node, zoom and legend stay.

const CONFIG = {
  displaylogo: false,
  displayModeBar: "hover",
  scrollZoom: false,
  responsive: false, // Chart.fit does it
  showSendToCloud: false, // otherwise plotly.js offers to upload the data
};
const charts = new WeakMap();

export default function ({ data, parentElement }) {
  const node = parentElement.querySelector(".live-chart");
  if (!charts.has(node)) charts.set(node, new Chart(node));
  charts.get(node).refresh(decode(data));
  // Streamlit also runs this when newer data overtakes a call: only a node that has left the page is done with.
  return () => node.isConnected || charts.get(node)?.dispose();
}

class Chart {
  constructor(node) {
    this.node = node;
    this.zoomed = {}; // ranges the person chose, by axis
    this.resizing = new ResizeObserver(() => this.fit());
    this.resizing.observe(node);
    this.seeing = new IntersectionObserver(([seen]) => this.schedule((this.visible = seen.isIntersecting)), {
      rootMargin: "150px",
    });
    this.seeing.observe(node);
    this.listening = new AbortController();
    node.addEventListener("news", ({ detail }) => this.update(decode(detail)), { signal: this.listening.signal });
    this.holdWhileDragging(this.listening.signal);
  }

  // A redraw spoils a drag (an axis that is being dragged runs away): news waits until the button is released.
  holdWhileDragging(signal) {
    this.node.addEventListener("pointerdown", () => (this.held = true), { signal, capture: true });
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      window.addEventListener(end, () => this.held && this.schedule((this.held = false)), { signal });
    }
  }

  // What the page was last refreshed with may be older than the news since, when only colours have changed.
  refresh(message) {
    if (message.version === this.refreshed) return this.schedule();
    this.refreshed = message.version;
    this.update(message);
  }

  update(message) {
    this.message = message;
    this.node.dataset.place = message.place ?? "";
    this.node.style.height = `${message.height}px`;
    this.node.setAttribute("aria-label", message.alt);
    this.node.previousElementSibling.textContent = message.title ?? "";
    this.node.nextElementSibling.textContent = message.caption ?? "";
    library(message.library).then(
      (Plotly) => this.schedule((this.Plotly = Plotly)),
      (error) => this.fail(error),
    );
  }

  // At most one drawing a frame, of the latest message, and none while the browser's tab is hidden, the chart is out
  // of sight (but for the first), or the page was only refreshed: the same figure in the same colours.
  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      const ready = this.message && this.Plotly && !this.held && (this.visible || !this.watching);
      if (ready && this.drawn !== this.look()) this.draw().catch((error) => this.fail(error));
    });
  }

  look() {
    return `${this.message.version} ${JSON.stringify(theme(this.node))}`;
  }

  async draw() {
    if (this.failed) this.node.replaceChildren();
    this.failed = false;
    this.drawn = this.look();
    const { data, layout } = this.message.figure;
    const themed = { uirevision: "kept", ...layout, autosize: true, template: theme(this.node) };
    for (const [axis, range] of Object.entries(this.zoomed)) {
      themed[axis] = { ...layout[axis], range: [...range], autorange: false };
    }
    await this.Plotly.react(this.node, data, themed, CONFIG);
    if (this.watching) return;
    this.watching = true;
    this.node.on("plotly_relayout", (change) => this.remember(change));
    this.node.on("plotly_doubleclick", () => this.again((this.zoomed = {})));
  }

  // The same message once more, for it is to be drawn otherwise.
  again() {
    this.drawn = undefined;
    this.schedule();
  }

  // uirevision alone keeps a zoom only while the figure gives no range, or always the same; ours grow with the run.
  remember(change) {
    for (const axis of ["xaxis", "yaxis"]) {
      const range = [change[`${axis}.range[0]`], change[`${axis}.range[1]`]];
      if (range.every((end) => end !== undefined)) this.zoomed[axis] = range;
      if (change[`${axis}.autorange`]) delete this.zoomed[axis];
    }
  }

  fit() {
    const { offsetWidth, offsetHeight, _fullLayout: drawn } = this.node;
    const visible = offsetWidth > 0 && offsetHeight > 0;
    if (!drawn || !visible || (drawn.width === offsetWidth && drawn.height === offsetHeight)) return;
    this.Plotly.Plots.resize(this.node);
  }

  fail(error) {
    if (!this.message) return;
    this.failed = true;
    this.drawn = undefined;
    this.Plotly?.purge(this.node);
    this.node.textContent = `This chart cannot be drawn: ${error.message}. Reload the page to try again.`;
    this.node.setAttribute("aria-label", this.node.textContent);
  }

  dispose() {
    this.message = undefined;
    cancelAnimationFrame(this.frame);
    this.listening.abort();
    this.resizing.disconnect();
    this.seeing.disconnect();
    this.Plotly?.purge(this.node);
    charts.delete(this.node);
  }
}

// Fetched once per page: all charts wait on one promise. After a failure the next update tries again.
function library(url) {
  window.liveChartLibrary ??= fetchLibrary(url).catch((error) => {
    window.liveChartLibrary = undefined;
    throw new Error(`plotly.js did not load (${error.message})`);
  });
  return window.liveChartLibrary;
}

// Streamlit serves the file with neither date nor ETag, so a plain <script> would fetch it anew at every reload.
// The address carries the version: what the browser has stored under it is right, however old.
async function fetchLibrary(url) {
  const response = await fetch(new URL(url, base()), { cache: "force-cache" });
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  const script = URL.createObjectURL(await response.blob());
  await import(script);
  URL.revokeObjectURL(script);
  return window.Plotly;
}

// The app's own address, also behind a path prefix: the folder that holds Streamlit's static/ files.
function base() {
  return new URL("../../", document.querySelector('script[src*="static/js/"]')?.src ?? new URL("/a/b/", location));
}

// A message is the header's length (uint32), the header (JSON), and the arrays, which the header gives as [start, end].
function decode(bytes) {
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = new TextDecoder().decode(bytes.subarray(4, start));
  const cut = ([from, to]) => bytes.slice(start + from, start + to).buffer;
  return JSON.parse(header, (_, value) => (Array.isArray(value?.bdata) ? { ...value, bdata: cut(value.bdata) } : value));
}

// Streamlit's colours as a Plotly template, so that what the figure itself sets is left alone.
function theme(node) {
  const style = getComputedStyle(node);
  const get = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const [text, muted, line] = [get("text-color"), get("gray-color"), get("border-color")];
  const clear = "rgba(0,0,0,0)";
  const colours = { gridcolor: get("border-color-light"), zerolinecolor: line, linecolor: line, tickcolor: clear };
  const axis = { ...colours, ticks: "outside", ticklen: 4, automargin: true };
  return {
    layout: {
      paper_bgcolor: clear,
      plot_bgcolor: clear,
      font: { color: text, family: get("font"), size: 13 },
      colorway: get("chart-categorical-colors").split(/,(?![^(]*\))/),
      hoverlabel: { bgcolor: get("background-color"), bordercolor: line, font: { color: text } },
      modebar: { bgcolor: clear, color: muted, activecolor: text },
      legend: { bgcolor: clear },
      margin: { l: 48, r: 12, t: 32, b: 40 },
      xaxis: axis,
      yaxis: axis,
    },
  };
}
