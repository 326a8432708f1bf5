// A table of texts. The table scrolls sideways inside its box; its first column stays visible.

class Table {
  constructor(root) {
    this.head = element("tr");
    this.body = element("tbody");
    const table = element("table", "", element("thead", "", this.head), this.body);
    const box = element("div", "live-table", table);
    box.tabIndex = 0; // so that the keyboard can scroll
    root.append(box);
  }

  show({ columns, rows }) {
    sized(this.head, columns.length, () => headCell("col"));
    columns.forEach((title, i) => setText(this.head.children[i], title));
    sized(this.body, rows.length, () => element("tr", "", headCell("row")));
    rows.forEach((cells, i) => {
      const row = this.body.children[i];
      sized(row, cells.length, () => element("td"));
      cells.forEach((text, j) => setText(row.children[j], text));
    });
  }
}

function headCell(scope) {
  const cell = element("th");
  cell.scope = scope;
  return cell;
}
