// A slider over a few stops, with a button that plays: the slider moves from the first stop to the end by itself. Each
// step waits until the page shows the step before.

class Player {
  static PACE = 750; // milliseconds from one step to the next, at least
  static began = new Set(); // what has played by itself in this tab of the browser

  constructor(root) {
    this.button = element("button", "live-play");
    this.button.type = "button";
    this.slider = element("input");
    this.slider.type = "range";
    this.slider.min = 0;
    this.text = element("output", "live-player-text");
    root.append(element("div", "live-player", this.button, this.slider, this.text));
    this.button.addEventListener("click", () => (this.isPlaying ? this.pause() : this.play()));
    this.slider.addEventListener("input", () => this.moved());
  }

  show(content) {
    this.content = content;
    const { label, stops, at, began } = content;
    setAttribute(this.slider, "aria-label", label);
    this.slider.max = stops.length - 1;
    if (this.wanted === undefined || this.wanted === at) this.slider.value = at;
    this.fill();
    if (this.wanted === at) this.arrived();
    if (began && !Player.began.has(began)) {
      Player.began.add(began);
      if (!matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
    }
  }

  fill() {
    const { label, stops, canPlay } = this.content;
    const text = `${stops[this.slider.value].toLocaleString("en")}`;
    setText(this.text, `${label}: ${text}`);
    setAttribute(this.slider, "aria-valuetext", text);
    setText(this.button, this.isPlaying ? "❚❚ Pause" : "▶ Play");
    this.button.disabled = !canPlay;
  }

  play() {
    this.isPlaying = true;
    this.go(0);
  }

  pause() {
    this.isPlaying = false;
    this.wanted = this.began = undefined;
    clearTimeout(this.timer);
    this.fill();
  }

  moved() {
    this.pause();
    this.ask(Number(this.slider.value));
  }

  go(stop) {
    this.began = performance.now();
    this.slider.value = stop;
    this.isPlaying = stop < this.content.end;
    this.ask(stop);
    this.fill();
  }

  // Ask the page for a stop, and wait until it shows that stop. At the end of a play the page chooses the stop itself,
  // which is the default.
  ask(stop) {
    const { at, end, stops } = this.content;
    const ends = this.began !== undefined && stop === end;
    if (stop !== at || ends) this.send({ draws: ends ? 0 : stops[stop] });
    this.wanted = stop;
    if (stop === at) this.arrived();
  }

  arrived() {
    const stop = this.wanted;
    this.wanted = undefined;
    if (!this.isPlaying) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.go(stop + 1), Math.max(Player.PACE - (performance.now() - this.began), 100));
  }

  dispose() {
    clearTimeout(this.timer);
  }
}
