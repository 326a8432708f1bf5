// A moving picture: for each run a chain that jumps over a density, and the histogram of its draws so far. All runs show
// the same number of leapfrogs at any time. People who ask for less motion see the last picture, and may play it.

class Moving {
  static SECONDS = 24; // from the first draw to the last
  static FRAME = 33; // milliseconds between two drawings, at least: chains may run on the same cores
  static BINS = 80;
  static TRAIL = 12; // draws that fade behind the chain

  constructor(root) {
    this.panels = element("div", "live-moving-panels");
    this.button = element("button", "live-moving-button");
    this.cost = element("span", "live-moving-cost");
    this.button.type = "button";
    this.button.addEventListener("click", () => (this.playing ? this.pause() : this.play()));
    root.append(element("div", "live-moving", this.panels, element("div", "live-moving-foot", this.button, this.cost)));
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.panels);
    this.seeing = new IntersectionObserver(([seen]) => (this.visible = seen.isIntersecting));
    this.seeing.observe(this.panels);
  }

  show(content) {
    this.content = content;
    this.length = Math.min(...content.runs.map(({ q }) => q.length));
    this.top = Math.max(...content.density, ...content.runs.flatMap(({ q }) => histogram(content, q, this.length)));
    this.panels.setAttribute("role", "img");
    setAttribute(this.panels, "aria-label", content.alt);
    sized(this.panels, content.runs.length, newPanel);
    this.at = this.length;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.pause();
    else this.play();
  }

  restyle() {
    this.draw();
  }

  play() {
    if (this.at >= this.length) this.at = 0;
    this.playing = true;
    this.before = undefined;
    setText(this.button, "Pause");
    this.frame ??= requestAnimationFrame((now) => this.advance(now));
  }

  pause() {
    this.playing = false;
    setText(this.button, this.at >= this.length ? "Play" : "Go on");
    this.draw();
  }

  advance(now) {
    this.frame = undefined;
    if (!this.playing) return;
    const seconds = Math.min(0.1, (now - (this.before ?? now)) / 1000); // a picture that was hidden goes on from there
    this.before = now;
    if (this.visible) {
      this.at = Math.min(this.length, this.at + (seconds * this.length) / Moving.SECONDS);
      if (now - (this.drawn ?? 0) >= Moving.FRAME) this.draw((this.drawn = now));
    }
    if (this.at >= this.length) this.pause();
    else this.frame = requestAnimationFrame((next) => this.advance(next));
  }

  draw() {
    if (!this.content) return;
    const shown = Math.floor(this.at);
    const leapfrogs = shown * this.content.runs[0].leapfrogs;
    setText(this.cost, `${leapfrogs.toLocaleString("en-US")} leapfrogs of each sampler`);
    this.content.runs.forEach((run, i) => {
      const jumps = run.jumps.filter((draw) => draw < shown).length;
      fillPanel(this.panels.children[i], run, `${jumps} ${jumps === 1 ? "jump" : "jumps"} between hills`);
      drawChain(this.panels.children[i].querySelector("canvas"), this.content, run, shown, this.top);
    });
  }

  dispose() {
    this.playing = false;
    cancelAnimationFrame(this.frame);
    this.resizing.disconnect();
    this.seeing.disconnect();
  }
}

function newPanel() {
  const head = element("div", "live-moving-head", element("span", "swatch"), element("strong"), element("span", "jumps"));
  return element("div", "live-moving-panel", head, element("canvas"));
}

function fillPanel(panel, { title, colour }, jumps) {
  const [swatch, name, count] = panel.firstElementChild.children;
  swatch.style.background = colour;
  setText(name, title);
  setText(count, jumps);
}

function drawChain(canvas, content, { q, colour }, shown, top) {
  const { x, density } = content;
  const { clientWidth: width, clientHeight: height } = canvas;
  const scale = window.devicePixelRatio || 1;
  if (!width || !height) return;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const [low, high] = [x[0], x[x.length - 1]];
  const across = (value) => ((value - low) / (high - low)) * width;
  const up = (value) => height - 3 - (value / top) * (height - 14);
  const level = (value) => {
    const place = Math.max(0, Math.min(x.length - 2, ((value - low) / (high - low)) * (x.length - 1)));
    const share = place - Math.floor(place);
    return (1 - share) * density[Math.floor(place)] + share * density[Math.floor(place) + 1];
  };
  pen.fillStyle = colour;
  pen.globalAlpha = 0.3;
  const step = (high - low) / Moving.BINS;
  histogram(content, q, shown).forEach((share, bin) => {
    const [left, right] = [across(low + bin * step), across(low + (bin + 1) * step)];
    pen.fillRect(left, up(share), right - left, up(0) - up(share));
  });
  pen.globalAlpha = 1;
  pen.strokeStyle = "#787878"; // the colour of the truth in all charts
  pen.lineWidth = 2;
  pen.setLineDash([6, 4]);
  pen.beginPath();
  x.forEach((value, i) => pen.lineTo(across(value), up(density[i])));
  pen.stroke();
  pen.setLineDash([]);
  pen.fillStyle = colour;
  const first = Math.max(0, shown - Moving.TRAIL);
  for (let i = first; i < shown; i++) {
    const newest = i === shown - 1;
    pen.globalAlpha = newest ? 1 : (0.5 * (i - first)) / Moving.TRAIL;
    pen.beginPath();
    pen.arc(across(q[i]), up(level(q[i])), newest ? 7 : 4, 0, 2 * Math.PI);
    pen.fill();
  }
  pen.globalAlpha = 1;
}

// The density of the first draws, as shares of all draws: the histogram fills up.
function histogram({ x }, q, shown) {
  const [low, high] = [x[0], x[x.length - 1]];
  const width = (high - low) / Moving.BINS;
  const shares = new Array(Moving.BINS).fill(0);
  for (const value of q.slice(0, shown)) {
    const bin = Math.floor((value - low) / width);
    if (bin >= 0 && bin < Moving.BINS) shares[bin] += 1 / q.length / width;
  }
  return shares;
}
