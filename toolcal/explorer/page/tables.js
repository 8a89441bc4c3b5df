// The tables that sum all up, each sortable and filtered by its keys.
"use strict";

(() => {
  const { el, choice } = explorer.elements;
  const { to, change, register } = explorer.address;

  const MAIN = ["cells", "families", "effects", "family_effects"];
  const FIRST = {
    cells: [
      ...[
        "model",
        "scenario",
        "perturbation",
        "gold_action",
        "labeller",
        "n",
        "n_missing",
        "gar_case_any",
        "acc",
        "gap",
      ],
      ...["violation", "share_calibrated", "share_masked", "share_slack", "share_failed", "gar_turn", "gar_decisive"],
      ...["acc_strict"],
    ],
    effects: [
      ...[
        "model",
        "scenario",
        "perturbation",
        "gold_action",
        "labeller",
        "measure",
        "n",
        "baseline",
        "perturbed",
        "delta",
      ],
      ...["p", "p_holm", "p_reason"],
    ],
  };
  FIRST.family_effects = ["family", ...FIRST.effects.slice(1)];
  const CHOSEN = ["labeller", "model", "family", "scenario", "perturbation", "gold_action", "measure", "question_set"];
  const BEGINS = { labeller: () => Object.keys(explorer.about.labellers)[0], perturbation: () => null };

  register("tables", async (room) => {
    const { tables } = explorer.about;
    const names = [
      ...MAIN.filter((name) => name in tables),
      ...Object.keys(tables).filter((name) => !MAIN.includes(name)),
    ];
    room.append(
      el("h1", {}, "Tables"),
      el("p", {}, "Every figure is drawn from one of these; what a column is stands under its name (rest on it)."),
      el(
        "ul",
        { class: "ways" },
        names.map((name) => el("li", {}, el("a", { href: to("table", { name }) }, name), ` ${tables[name]} rows`)),
      ),
    );
    return "Tables";
  });

  register("table", async (room, given) => {
    const name = given.name ?? "cells";
    if (!Object.hasOwn(explorer.about.tables, name)) throw new Error(`This run has no table ${name}.`);
    const table = await explorer.data.load(`tables/${name}`);
    const all = explorer.data.rows(table);
    const keys = table.key.filter((key) => CHOSEN.includes(key));
    const chosen = Object.fromEntries(keys.map((key) => [key, given[key] ?? BEGINS[key]?.() ?? ""]));
    const rows = all.filter((row) =>
      keys.every((key) => !chosen[key] || chosen[key] === "all" || row[key] === chosen[key]),
    );
    const few = FIRST[name] && given.columns !== "all";
    const names = few ? FIRST[name] : columnsOf(table);
    room.append(
      el("p", { class: "crumbs" }, el("a", { href: to("tables") }, "Tables")),
      el("h1", {}, name),
      el(
        "div",
        { class: "choices" },
        keys.map((key) => choice(key, options(all, key), chosen[key], (value) => change({ [key]: value || "all" }))),
        FIRST[name]
          ? choice(
              "columns",
              [
                ["", "the main ones"],
                ["all", "all"],
              ],
              given.columns ?? "",
              (columns) => change({ columns }),
            )
          : null,
      ),
      el(
        "p",
        { role: "status" },
        `${rows.length.toLocaleString("en")} of ${all.length.toLocaleString("en")} rows. `,
        "Rates in percent, 95 % intervals in brackets; a dash is null.",
      ),
    );
    explorer.grid.put(room, {
      label: `Table ${name}`,
      rows,
      columns: names.map((column, at) => ({
        ...described(table, column),
        frozen: at === 0,
        show: shows(name, column),
      })),
      sort: given.sort ? { column: given.sort, descending: given.down === "1" } : null,
      sorted: ({ column, descending }) => {
        history.replaceState(
          null,
          "",
          to("table", { ...explorer.address.read().given, sort: column, down: descending ? 1 : "" }),
        );
      },
    });
    room.append(meanings(table, names));
    return `Table ${name}`;
  });

  function options(rows, key) {
    const values = [...new Set(rows.map((row) => row[key]))].filter((value) => value !== null);
    return [["", "all"], ...values.map((value) => [value, value])];
  }

  /** Columns but the ends of intervals, which stand with their rates. */
  function columnsOf(table) {
    const names = Object.keys(table.columns);
    return names.filter((name) => !/_(low|high)$/.test(name) || !names.includes(name.replace(/_(low|high)$/, "")));
  }

  function described(table, name) {
    const doc = table.docs[name];
    const values = table.columns[name];
    const rate = name !== "kappa" && /\(-?[01] to [12]\)/.test(doc);
    const text =
      !Array.isArray(values) || values.some((value) => typeof value === "string" || typeof value === "boolean");
    return { name, doc, kind: rate ? "rate" : text ? "text" : "number" };
  }

  /** A model's name in the table of cells leads to its conversations. */
  function shows(table, column) {
    if (table !== "cells" || column !== "model") return null;
    return (value, { model, scenario, perturbation, gold_action: gold, labeller }) =>
      el(
        "a",
        { href: to("cases", { model, scenario, perturbation, gold, labeller }) },
        ...explorer.elements.name(value),
      );
  }

  function meanings(table, names) {
    return el(
      "details",
      {},
      el("summary", {}, "What the columns are"),
      el(
        "dl",
        { class: "pairs" },
        names.map((name) => [el("dt", {}, name), el("dd", {}, table.docs[name])]),
      ),
    );
  }
})();
