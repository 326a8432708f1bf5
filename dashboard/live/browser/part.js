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
  constructor(node, { place, kind, room }) {
    Object.assign(this, { node, place, kind, keepsRoom: room > 0 || kind === "chart" || kind === "moving" });
    node.classList.add("live-part");
    node.dataset.place = place;
    node.toggleAttribute("data-room", room > 0);
    node.style.setProperty("--room", room);
    node.replaceChildren();
    this.renderer = new KINDS[kind](node);
    this.container = streamlitElement(node);
    this.setVisible(this.keepsRoom);
  }

  isFor({ place, kind }) {
    return place === this.place && kind === this.kind;
  }

  show(content) {
    this.setVisible(this.keepsRoom || content.length !== 0);
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
