// Data files are scripts, for a page on disk may read nothing else. Each calls explorer.take with JSON, compressed.
"use strict";

const explorer = {};

explorer.data = (() => {
  const KEPT = 24; // data files in memory; a part of a cell is a megabyte
  const known = new Map();

  /** What a data file holds, e.g. load("tables/cells"); loaded once. */
  function load(path) {
    if (!known.has(path)) {
      const value = ask(path).then(unpacked);
      value.catch(() => known.delete(path));
      known.set(path, value);
      if (known.size > KEPT) known.delete([...known.keys()].find((name) => name.startsWith("conversations/")));
    }
    return known.get(path);
  }

  function ask(path) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.addEventListener("taken", (event) => resolve(event.detail));
      script.addEventListener("error", () => reject(new Error(`The data file data/${path}.js is not there.`)));
      script.addEventListener("load", () => script.remove());
      script.src = `data/${path}.js`;
      document.head.append(script);
    });
  }

  explorer.take = (packed) => document.currentScript.dispatchEvent(new CustomEvent("taken", { detail: packed }));

  async function unpacked(packed) {
    const letters = atob(packed);
    const bytes = new Uint8Array(letters.length);
    for (let at = 0; at < letters.length; at += 1) bytes[at] = letters.charCodeAt(at);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  /** The rows of a table that is stored by column. */
  function rows(table) {
    const found = Array.from({ length: table.rows }, () => ({}));
    for (const [name, column] of Object.entries(table.columns)) {
      const values = Array.isArray(column) ? column : column.at.map((at) => (at === null ? null : column.words[at]));
      found.forEach((row, at) => (row[name] = values[at]));
    }
    return found;
  }

  /** The rows of one of the tables that sum all up; none where the run has no such table. */
  async function table(name) {
    return Object.hasOwn(explorer.about.tables, name) ? rows(await load(`tables/${name}`)) : [];
  }

  return { load, rows, table };
})();
