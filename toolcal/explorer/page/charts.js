// Charts of the same tables as the figures: hover for numbers, choose a mark for its conversations.
"use strict";

explorer.charts = (() => {
  const { el, choice, name } = explorer.elements;
  const { to, change, register } = explorer.address;

  // The palette of Okabe and Ito, as in the figures: vermillion is a pass without the gold action, and nothing else.
  const COLOURS = {
    ink: "#262626",
    grey: "#767676",
    pale: "#D9D9D9",
    blue: "#0072B2",
    alert: "#D55E00",
    green: "#009E73",
    sky: "#56B4E9",
  };
  const OF_OUTCOME = { calibrated: COLOURS.green, slack: COLOURS.sky, masked: COLOURS.alert, failed: COLOURS.pale };
  const kinds = {};

  /** A chart: `title`, `table`, `about` (how it is read), `choices` of its own, `draw(rows, given)` -> elements. */
  const add = (key, chart) => (kinds[key] = chart);

  register("charts", async (room, given) => {
    const there = Object.keys(kinds).filter((key) => kinds[key].table in explorer.about.tables);
    const key = there.includes(given.chart) ? given.chart : there[0];
    const chart = kinds[key];
    const all = await explorer.data.table(chart.table);
    const shown = {
      labeller: Object.keys(explorer.about.labellers)[0],
      view: "case_any",
      ...chart.begins?.(all),
      ...given,
    };
    const by = ["labeller", "perturbation"].filter((column) => all.length && column in all[0]);
    if (by.includes("perturbation"))
      shown.perturbation ??= values(all, "perturbation").includes("baseline")
        ? "baseline"
        : values(all, "perturbation")[0];
    const rows = all.filter((row) => by.every((column) => row[column] === shown[column]));
    room.append(
      el("h1", {}, "Charts"),
      el(
        "nav",
        { "aria-label": "Charts", class: "tabs" },
        there.map((other) => tab(other, key, given)),
      ),
      el("h2", {}, chart.title),
      el("p", {}, chart.about),
      el(
        "div",
        { class: "choices" },
        by.map((column) => choice(column, values(all, column), shown[column], (value) => change({ [column]: value }))),
        (chart.choices ?? []).map(({ label, key: of, options }) =>
          choice(label, options(rows, all), shown[of] ?? "", (value) => change({ [of]: value })),
        ),
      ),
      ...(rows.length
        ? [chart.draw(rows, shown)].flat().filter(Boolean)
        : [el("p", { class: "none" }, "There are no rows for this choice.")]),
      el(
        "p",
        {},
        el(
          "a",
          {
            href: to("table", {
              name: chart.table,
              labeller: shown.labeller,
              perturbation: by.includes("perturbation") ? shown.perturbation : "",
            }),
          },
          `The same numbers as a table (${chart.table})`,
        ),
      ),
    );
    return chart.title;
  });

  const tab = (other, key, given) =>
    el(
      "a",
      { href: to("charts", { chart: other, labeller: given.labeller }), "aria-current": other === key ? "true" : null },
      kinds[other].title,
    );

  const values = (rows, column) => [...new Set(rows.map((row) => row[column]))].filter((value) => value !== null);

  /** Rows by panel: those of a scenario and gold action. */
  function panels(rows) {
    const found = new Map();
    for (const row of rows) {
      const title = row.gold_action ? `${row.scenario} (${row.gold_action})` : row.scenario;
      found.set(title, [...(found.get(title) ?? []), row]);
    }
    return [...found];
  }

  /** A chart with its title, told to who does not see it by a sentence. */
  function panel(title, drawn, told) {
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", `${title}: ${told}`);
    return el("figure", {}, el("figcaption", {}, ...name(title)), drawn);
  }

  /** Marks that lead to conversations when they are chosen. */
  function leads(drawn, selector, rows, href) {
    for (const node of drawn.querySelectorAll(selector)) {
      node.style.cursor = "pointer";
      // Plot binds to a mark the place of its row.
      node.addEventListener("click", () => (location.hash = href(rows[node.__data__])));
    }
  }

  /** Where the conversations of a row of `cells` are. */
  const conversations = (row, more) =>
    to("cases", {
      model: row.model,
      scenario: row.scenario,
      perturbation: row.perturbation,
      gold: row.gold_action,
      labeller: row.labeller,
      ...more,
    });

  /** What the colours of outcomes mean. */
  const outcomes = () =>
    el(
      "ul",
      { class: "legend" },
      Object.entries(explorer.words.OUTCOMES).map(([key, words]) =>
        el("li", {}, el("span", { class: `key square ${key}`, "aria-hidden": "true" }), `${key}: ${words}`),
      ),
    );

  const empty = (title) =>
    el("figure", { class: "empty" }, el("figcaption", {}, title), el("p", { class: "none" }, "No model has both rates here."));

  return { add, panels, panel, empty, values, leads, conversations, outcomes, COLOURS, OF_OUTCOME };
})();
