// A place of the page with its content.

const KINDS = {
  status: Status,
  remarks: Remarks,
  lines: Lines,
  table: Table,
  matrix: Matrix,
  moving: Moving,
  files: Files,
  player: Player,
  keys: Keys,
  link: Link,
  chart: Chart,
};

class Part {
  constructor(node, { place, kind }) {
    Object.assign(this, { node, place, kind });
    node.classList.add("live-part");
    node.dataset.place = place;
    node.replaceChildren();
    this.renderer = new KINDS[kind](node);
    this.container = streamlitElement(node);
    this.setVisible(kind === "chart" || kind === "moving"); // these keep their space
  }

  isFor({ place, kind }) {
    return place === this.place && kind === this.kind;
  }

  show(content) {
    this.setVisible(content.length !== 0);
    this.renderer.show(content);
  }

  setVisible(visible) {
    const { style } = this.container;
    if (visible === (style.display === "none")) style.display = visible ? "" : "none";
  }

  fade(faded) {
    this.node.classList.toggle("mahmc-faded", faded);
  }

  restyle() {
    this.renderer.restyle?.();
  }

  dispose() {
    this.setVisible(true); // Streamlit may use the container for something else
    this.renderer.dispose?.();
  }
}
