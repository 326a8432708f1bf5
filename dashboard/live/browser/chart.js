// A Plotly chart in a DOM node. The first message draws the chart, later messages call Plotly.react: the node, the zoom
// and the legend stay.

const CONFIG = {
  displaylogo: false,
  displayModeBar: "hover",
  modeBarButtonsToRemove: ["toImage"], // "Save figure" is for all forms, with title and settings
  scrollZoom: false,
  responsive: false, // Chart.fit resizes the chart
  doubleClick: false, // Chart.reset does it
  showSendToCloud: false, // otherwise plotly.js offers to upload the data
};

class Chart {
  static NARROW = 420; // pixels; a narrower chart has no room for its toolbar beside the title
  static CALM = 120; // milliseconds from the last change of a zoom until the server is asked

  constructor(root) {
    this.root = root;
    this.title = element("div", "live-chart-title");
    this.origin = element("p", "live-origin");
    this.save = new SaveFigure((form) => this.figureAddress?.(form, this.zoomed));
    this.node = element("div", "live-chart");
    this.caption = element("p", "live-chart-caption");
    this.node.setAttribute("role", "figure"); // not "img": it has a toolbar with buttons
    root.append(element("div", "live-chart-head", this.title, this.save.node), this.origin, this.node, this.caption);
    this.zoomed = {}; // ranges that the user chose, by axis
    this.resets = 0; // double clicks, each of which brings the figure's own ranges back
    this.near = undefined; // what the server has of the range of x that the user chose
    this.resizing = new ResizeObserver(() => this.fit());
    this.resizing.observe(this.node);
    this.seeing = new IntersectionObserver(([seen]) => this.schedule((this.visible = seen.isIntersecting)), {
      rootMargin: "150px",
    });
    this.seeing.observe(this.node);
    this.listening = new AbortController();
    this.holdWhileDragging(this.listening.signal);
    document.addEventListener(PRESENT, () => this.schedule(), { signal: this.listening.signal });
  }

  // A redraw disturbs a drag (the dragged axis jumps): new messages wait until the button is released.
  holdWhileDragging(signal) {
    this.node.addEventListener("pointerdown", () => (this.held = true), { signal, capture: true });
    for (const end of ["pointerup", "pointercancel", "blur"]) {
      window.addEventListener(end, () => this.held && this.schedule((this.held = false)), { signal });
    }
  }

  show(bytes) {
    this.bytes = bytes;
    this.schedule();
  }

  // Streamlit's theme may have changed.
  restyle() {
    this.schedule();
  }

  // Draw at most once in each frame, the latest message only, and not while the browser's tab is hidden.
  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw().catch((error) => this.fail(error));
    });
  }

  // Skip a chart that is not visible (except the first drawing), and a figure that was drawn with the same colours.
  async draw() {
    if (!this.bytes || this.held || (this.drawn && !this.visible)) return;
    this.read();
    const message = this.message;
    this.Plotly = await plotly(message.library);
    if (message !== this.message) return;
    const template = theme(this.node);
    const shown = this.closer() ?? message;
    const version = `${message.version} ${shown.version} ${JSON.stringify(template)}`;
    if (this.drawn === version) return;
    if (this.failed) this.node.replaceChildren();
    this.failed = false;
    this.drawn = version;
    setText(this.caption, shown.caption);
    const [data, layout] = [shown.figure.data, this.layout(template)];
    await this.Plotly.react(this.node, isPresenting() ? data.map(largeTrace) : data, layout, CONFIG);
    this.watch();
    this.fit(); // the node may have got its height while plotly.js was drawing
  }

  read() {
    if (this.message?.bytes === this.bytes) return;
    this.message = { ...decode(this.bytes), bytes: this.bytes };
    const { height, alt, title, origin } = this.message;
    this.node.style.height = `${height}px`;
    setAttribute(this.node, "aria-label", alt);
    setText(this.title, title);
    setText(this.origin, origin);
    setAttribute(this.origin, "title", origin); // in full, if it is cut
    this.save.of(title || alt);
    this.look();
  }

  // What was fetched of the range of x, if it is still what the chart is about and the range that is shown.
  closer() {
    const [near, range] = [this.near, this.zoomed.xaxis];
    const fits = near && range && near.subject === this.message.subject && sameRange(near.range, range);
    return fits ? near : undefined;
  }

  // Long chains are drawn by their peaks alone. Of a range that the user chose, the server has what lies between them.
  // A request that is under way for the same range goes on: at a slow pace, messages come faster than answers.
  look() {
    const range = this.zoomed.xaxis;
    if (this.looking && range && sameRange(this.looking.range, range)) return;
    this.looking?.abort();
    this.looking = undefined;
    if (!range || !this.message?.closer) return;
    const looking = (this.looking = Object.assign(new AbortController(), { range }));
    const { signal } = looking;
    setTimeout(async () => {
      if (signal.aborted) return;
      const bytes = await this.askCloser(range, signal).catch(() => null); // the peaks stay, and the caption says so
      if (this.looking === looking) this.looking = undefined;
      if (!bytes || signal.aborted) return;
      this.near = { ...decode(bytes), range };
      this.schedule();
    }, Chart.CALM);
  }

  layout(template) {
    const { layout } = this.message.figure;
    const themed = { uirevision: "kept", ...layout, autosize: true, template };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) delete themed.transition;
    for (const axis of ["xaxis", "yaxis"]) {
      themed[axis] = { ...structuredClone(layout[axis]), uirevision: this.resets }; // plotly.js writes into ranges
      const range = this.zoomed[axis];
      if (range) Object.assign(themed[axis], { range: [...range], autorange: false });
    }
    return isPresenting() ? largeLayout(themed) : themed;
  }

  watch() {
    if (this.watching) return;
    this.watching = true;
    this.node.on("plotly_relayout", (change) => this.remember(change));
    this.node.on("plotly_doubleclick", () => this.reset());
  }

  // Back to the ranges that the figure has.
  reset() {
    this.zoomed = {};
    this.resets += 1;
    this.look();
    this.drawn = "before"; // draw the same message again
    this.schedule();
  }

  // uirevision keeps a zoom only if the figure's range never changes. The ranges here grow with the run.
  remember(change) {
    for (const axis of ["xaxis", "yaxis"]) {
      const range = [change[`${axis}.range[0]`], change[`${axis}.range[1]`]];
      if (range.every((end) => end !== undefined)) this.zoomed[axis] = range;
      if (change[`${axis}.autorange`]) delete this.zoomed[axis];
    }
    if (change["xaxis.autorange"]) this.schedule((this.drawn = "before"));
    this.look();
  }

  fit() {
    const { offsetWidth, offsetHeight, _fullLayout: drawn } = this.node;
    this.root.classList.toggle("live-narrow", offsetWidth < Chart.NARROW);
    const visible = offsetWidth > 0 && offsetHeight > 0;
    if (!drawn || !visible || (drawn.width === offsetWidth && drawn.height === offsetHeight)) return;
    this.Plotly.Plots.resize(this.node).then(() => this.schedule((this.drawn = "before"))); // else the legend may be inside
  }

  fail(error) {
    if (!this.bytes) return;
    this.failed = true;
    this.drawn = undefined;
    this.watching = false;
    this.Plotly?.purge(this.node);
    this.node.textContent = `This chart cannot be drawn: ${error.message}. Reload the page to try again.`;
    this.node.setAttribute("aria-label", this.node.textContent);
    this.message = undefined;
  }

  dispose() {
    this.bytes = this.message = this.near = undefined;
    this.looking?.abort();
    cancelAnimationFrame(this.frame);
    this.listening.abort();
    this.save.dispose();
    this.resizing.disconnect();
    this.seeing.disconnect();
    this.Plotly?.purge(this.node);
  }
}

const sameRange = (one, other) => one.every((end, i) => end === other[i]);

// plotly.js is fetched once for each page: all charts wait for one promise. After a failure the next drawing tries again.
let plotlyPromise;

function plotly(url) {
  plotlyPromise ??= new Promise((resolve, reject) => {
    const script = element("script");
    script.src = new URL(url, BASE);
    script.onload = () => resolve(window.Plotly);
    script.onerror = () => {
      plotlyPromise = undefined;
      script.remove();
      reject(new Error("plotly.js did not load"));
    };
    document.head.append(script);
  });
  return plotlyPromise;
}

// A message consists of the header's length (uint32), the header (JSON), and the arrays. The header has their [start, end].
function decode(bytes) {
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = new TextDecoder().decode(bytes.subarray(4, start));
  const cut = ([from, to]) => bytes.slice(start + from, start + to).buffer;
  const revive = (_, value) => (Array.isArray(value?.bdata) ? { ...value, bdata: cut(value.bdata) } : value);
  return JSON.parse(header, revive);
}

// In Present mode, type and lines are larger by this factor.
const LARGE = 1.7;
const scale = () => (isPresenting() ? LARGE : 1);
const larger = (size) => (Array.isArray(size) ? size.map(larger) : size && size * LARGE);

function largeTrace(trace) {
  const { line, marker } = trace;
  const large = { ...trace };
  if (line) large.line = { ...line, width: larger(line.width ?? 2) };
  if (marker) large.marker = { ...marker, size: larger(marker.size), line: marker.line && { ...marker.line, width: larger(marker.line.width) } };
  return large;
}

function largeLayout(layout) {
  const { annotations = [], shapes = [], margin = {} } = layout;
  return {
    ...layout,
    annotations: annotations.map((note) => ({ ...note, font: { ...note.font, size: larger(note.font?.size ?? 13) } })),
    shapes: shapes.map((shape) => ({ ...shape, line: { ...shape.line, width: larger(shape.line?.width) } })),
    margin: { ...margin, r: larger(margin.r) },
  };
}

// Streamlit's colours as a Plotly template. A template does not override what the figure sets.
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
      font: { color: text, family: get("font"), size: 13 * scale() },
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
