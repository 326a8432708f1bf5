// One Plotly chart in one DOM node. The first message draws, every later one is a Plotly.react: node, zoom and legend
// stay.

const CONFIG = {
  displaylogo: false,
  displayModeBar: "hover",
  scrollZoom: false,
  responsive: false, // Chart.fit does it
  showSendToCloud: false, // otherwise plotly.js offers to upload the data
};

class Chart {
  constructor(root) {
    this.title = element("div", "live-chart-title");
    this.node = element("div", "live-chart");
    this.caption = element("p", "live-chart-caption");
    this.node.setAttribute("role", "img");
    root.append(this.title, this.node, this.caption);
    this.zoomed = {}; // ranges that the user chose, by axis
    this.resizing = new ResizeObserver(() => this.fit());
    this.resizing.observe(this.node);
    this.seeing = new IntersectionObserver(([seen]) => this.schedule((this.visible = seen.isIntersecting)), {
      rootMargin: "150px",
    });
    this.seeing.observe(this.node);
    this.listening = new AbortController();
    this.holdWhileDragging(this.listening.signal);
  }

  // A redraw spoils a drag (an axis that is being dragged runs away): news waits until the button is released.
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

  // At most one drawing a frame, of the latest message, and none while the browser's tab is hidden.
  schedule() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.draw().catch((error) => this.fail(error));
    });
  }

  // Nothing is done for a chart out of sight (but for the first drawing), nor for the same figure in the same colours.
  async draw() {
    if (!this.bytes || this.held || (this.drawn && !this.visible)) return;
    this.read();
    const message = this.message;
    this.Plotly = await plotly(message.library);
    if (message !== this.message) return;
    const template = theme(this.node);
    const look = `${message.version} ${JSON.stringify(template)}`;
    if (this.drawn === look) return;
    if (this.failed) this.node.replaceChildren();
    this.failed = false;
    this.drawn = look;
    await this.Plotly.react(this.node, message.figure.data, this.layout(template), CONFIG);
    this.watch();
  }

  read() {
    if (this.message?.bytes === this.bytes) return;
    this.message = { ...decode(this.bytes), bytes: this.bytes };
    const { height, alt, title, caption } = this.message;
    this.node.style.height = `${height}px`;
    setAttribute(this.node, "aria-label", alt);
    setText(this.title, title);
    setText(this.caption, caption);
  }

  layout(template) {
    const { layout } = this.message.figure;
    const themed = { uirevision: "kept", ...layout, autosize: true, template };
    for (const [axis, range] of Object.entries(this.zoomed)) {
      themed[axis] = { ...layout[axis], range: [...range], autorange: false };
    }
    return themed;
  }

  watch() {
    if (this.watching) return;
    this.watching = true;
    this.node.on("plotly_relayout", (change) => this.remember(change));
    this.node.on("plotly_doubleclick", () => {
      this.zoomed = {};
      this.drawn = "before"; // the same message has to be drawn again
      this.schedule();
    });
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
    this.bytes = this.message = undefined;
    cancelAnimationFrame(this.frame);
    this.listening.abort();
    this.resizing.disconnect();
    this.seeing.disconnect();
    this.Plotly?.purge(this.node);
  }
}

// plotly.js is fetched once per page: all charts wait on one promise. After a failure the next drawing tries again.
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

// A message is the header's length (uint32), the header (JSON), and the arrays, which the header gives as [start, end].
function decode(bytes) {
  const start = 4 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = new TextDecoder().decode(bytes.subarray(4, start));
  const cut = ([from, to]) => bytes.slice(start + from, start + to).buffer;
  const revive = (_, value) => (Array.isArray(value?.bdata) ? { ...value, bdata: cut(value.bdata) } : value);
  return JSON.parse(header, revive);
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
