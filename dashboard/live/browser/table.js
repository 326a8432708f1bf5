// A table of texts with a caption. The table scrolls sideways inside its box; its first column stays visible.

class Table {
  constructor(root) {
    this.head = element("tr");
    this.body = element("tbody");
    this.caption = element("p", "live-origin");
    this.table = element("table", "", element("thead", "", this.head), this.body);
    const box = element("div", "live-table", this.table);
    box.tabIndex = 0; // so that the keyboard can scroll
    root.append(this.caption, box);
  }

  show({ columns, rows, caption }) {
    setText(this.caption, caption);
    setAttribute(this.table, "aria-label", caption);
    sized(this.head, columns.length, () => headCell("col"));
    columns.forEach((title, i) => setText(this.head.children[i], title));
    sized(this.body, rows.length, () => element("tr", "", headCell("row")));
    rows.forEach((cells, i) => {
      const row = this.body.children[i];
      sized(row, cells.length, () => element("td"));
      cells.forEach((text, j) => setText(row.children[j], unbroken(text)));
    });
  }
}

// The text with each interval in one piece: "[0.1, 0.2]" may begin a line, but does not break, and neither does 1e−5.
const unbroken = (text) => text.replace(/, (?=[^[\]]*\])/g, ",\u00a0").replace(/e-(?=\d)/g, "e\u2212");

function headCell(scope) {
  const cell = element("th");
  cell.scope = scope;
  return cell;
}
