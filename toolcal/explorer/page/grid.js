// Tables that sort and scroll through any number of rows, by Tabulator; every cell is made of text nodes.
"use strict";

explorer.grid = (() => {
  const { el, name } = explorer.elements;
  const { percent, interval, number } = explorer.words;

  /** A cell's content by what its column is. */
  function shown(column, row) {
    const value = row[column.name];
    if (value === null || value === undefined) return ["-"];
    if (column.show) return [column.show(value, row)].flat();
    if (column.kind === "rate")
      return [percent(value), " ", el("small", {}, interval(row[`${column.name}_low`], row[`${column.name}_high`]))];
    if (typeof value === "boolean") return [value ? "yes" : "no"];
    if (typeof value !== "number") return name(value);
    const ends = [row[`${column.name}_low`], row[`${column.name}_high`]];
    return ends.some((end) => typeof end !== "number")
      ? [number(value)]
      : [number(value), " ", el("small", {}, `[${ends.map(number).join(", ")}]`)];
  }

  /**
   * Put a table into a room.
   *
   * columns: of { name, title, doc, kind (rate, number, text), show, width }; rows: objects.
   * sort: { column, descending }. sorted: is told of a new order.
   */
  function put(
    room,
    { label, columns, rows, sort, sorted, height = "70vh", none = "There are no rows for this choice." },
  ) {
    const place = el("div", { class: "grid" });
    room.append(place);
    if (!rows.length) {
      place.append(el("p", { class: "none" }, none));
      place.dataset.built = "";
      return;
    }
    const build = () => {
      const grid = new Tabulator(place, {
        data: rows,
        height: rows.length > 18 ? height : undefined,
        layout: "fitDataFill",
        nestedFieldSeparator: false,
        rowHeight: 32,
        columnDefaults: {
          vertAlign: "middle",
          resizable: false,
          headerSortTristate: false,
          maxInitialWidth: Math.min(420, 0.6 * innerWidth), // no id or note takes the place of all others
        },
        columns: columns.map((column) => ({
          field: column.name,
          title: column.title ?? column.name,
          titleFormatter: () => el("span", { title: column.doc ?? "" }, column.title ?? column.name),
          hozAlign: column.kind === "text" ? "left" : "right",
          headerHozAlign: column.kind === "text" ? "left" : "right",
          width: column.width,
          frozen: column.frozen && innerWidth > 700,
          sorter: (one, other, _, __, ___, direction) => compared(one, other, direction),
          formatter: (cell) => el("span", {}, ...shown(column, cell.getData())),
        })),
        initialSort: sort ? [{ column: sort.column, dir: sort.descending ? "desc" : "asc" }] : [],
      });
      grid.on("tableBuilt", () => {
        place.dataset.built = "";
        place.setAttribute("aria-label", label);
        place.setAttribute("aria-rowcount", rows.length + 1);
        place.querySelector(".tabulator-tableholder")?.setAttribute("aria-label", `${label}, rows`);
        for (const head of place.querySelectorAll('[role="columnheader"]')) {
          head.tabIndex = 0;
          head.addEventListener("keydown", (event) => {
            if (event.key === "Enter" || event.key === " ") {
              event.preventDefault();
              head.click();
            }
          });
        }
      });
      grid.on("dataSorted", (sorters) => {
        const [first] = sorters;
        if (sorted && first) sorted({ column: first.field, descending: first.dir === "desc" });
      });
    };
    // It measures itself, so it has to be on the page.
    room.addEventListener("there", build, { once: true });
  }

  /** An order in which null stands last, whichever way. */
  function compared(one, other, direction) {
    const lacks = [one, other].map((value) => value === null || value === undefined);
    if (lacks[0] || lacks[1]) return (lacks[0] - lacks[1]) * (direction === "asc" ? 1 : -1);
    return typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other;
  }

  return { put };
})();
