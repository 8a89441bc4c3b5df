// Charts of the bound: GAR against Acc, and the four outcomes.
"use strict";

(() => {
  const { el, name, table } = explorer.elements;
  const { to } = explorer.address;
  const { percent, interval, OUTCOMES, VIEWS } = explorer.words;
  const { add, panels, panel, empty, values, leads, conversations, outcomes, COLOURS, OF_OUTCOME } = explorer.charts;

  add("gar_acc", {
    title: "GAR against Acc",
    table: "cells",
    about:
      "Each mark is a model. On the line, Acc equals GAR. Above it the bound is broken: cases passed without the gold action. " +
      "Below it the gold action was taken and the case failed. Lines are 95 % intervals; choose a mark for what is behind it.",
    choices: [
      { label: "gold action counts", key: "view", options: () => Object.entries(VIEWS) },
      {
        label: "mark a model",
        key: "model",
        options: (rows) => [["", "none"], ...values(rows, "model").map((value) => [value, value])],
      },
    ],
    draw(rows, shown) {
      const suffix = shown.view === "decisive" ? "_decisive" : "";
      const gar = `gar_${shown.view}`;
      const drawn = panels(rows).map(([title, own]) => {
        const there = own.filter((row) => row[gar] !== null && row.acc !== null);
        return there.length ? scatter(title, there, gar, suffix, shown.model) : empty(title);
      });
      return [details(rows, gar, suffix, shown), legend(), el("div", { class: "panels" }, drawn)];
    },
  });

  function scatter(title, rows, gar, suffix, marked) {
    const looks = (row) => (row[`violation${suffix}`] ? COLOURS.alert : COLOURS.blue);
    const chosen = (row) => row.model === marked;
    const drawn = Plot.plot({
      width: 330,
      height: 320,
      marginLeft: 42,
      marginBottom: 38,
      marginTop: 24,
      marginRight: 14,
      x: { domain: [0, 100], label: "GAR, %", percent: true, ticks: 5 },
      y: { domain: [0, 100], label: "Acc, %", percent: true, ticks: 5, grid: true },
      marks: [
        Plot.line(
          [
            [0, 0],
            [1, 1],
          ],
          { stroke: COLOURS.grey, strokeDasharray: "4 3" },
        ),
        Plot.link(rows, {
          x1: `${gar}_low`,
          x2: `${gar}_high`,
          y1: "acc",
          y2: "acc",
          stroke: looks,
          strokeOpacity: (row) => (chosen(row) ? 0.9 : 0.3),
        }),
        Plot.link(rows, {
          x1: gar,
          x2: gar,
          y1: "acc_low",
          y2: "acc_high",
          stroke: looks,
          strokeOpacity: (row) => (chosen(row) ? 0.9 : 0.3),
        }),
        Plot.dot(rows, {
          x: gar,
          y: "acc",
          r: (row) => (chosen(row) ? 9 : 5.5),
          stroke: looks,
          strokeWidth: 2,
          symbol: (row) => (row[`violation${suffix}`] ? "diamond" : "circle"),
          fill: (row) => (scripted(row) ? "white" : looks(row)),
          className: "points",
        }),
        ...["start", "end"].map((textAnchor) =>
          Plot.text(
            rows.filter((row) => chosen(row) && row[gar] > 0.5 === (textAnchor === "end")),
            { x: gar, y: "acc", text: "model", dy: -16, fontWeight: "bold", textAnchor },
          ),
        ),
        Plot.tip(rows, Plot.pointer({ x: gar, y: "acc", title: (row) => tip(row, gar) })),
      ],
      symbol: { type: "identity" },
      color: { type: "identity" },
      r: { type: "identity" },
      opacity: { type: "identity" },
    });
    leads(drawn, ".points path, .points circle", rows, (row) =>
      to("charts", { ...explorer.address.read().given, model: row.model }),
    );
    const above = rows.filter((row) => row[`violation${suffix}`]).map((row) => row.model);
    return panel(
      title,
      drawn,
      above.length ? `Acc exceeds GAR for ${above.join(", ")}` : "Acc exceeds GAR for no model",
    );
  }

  const scripted = (row) => String(row.family).startsWith("policy");

  const tip = (row, gar) =>
    `${row.model}\nGAR ${percent(row[gar])} ${interval(row[`${gar}_low`], row[`${gar}_high`])}\n` +
    `Acc ${percent(row.acc)} ${interval(row.acc_low, row.acc_high)}\nn = ${row.n}`;

  function legend() {
    const entry = (mark, words) => el("li", {}, el("span", { class: `key ${mark}`, "aria-hidden": "true" }), words);
    return el(
      "ul",
      { class: "legend" },
      entry("dot", "model"),
      entry("dot hollow", "scripted policy"),
      entry("diamond", "bound broken (Acc > GAR)"),
    );
  }

  /** The rates of the model that is marked, with the ways to its conversations. */
  function details(rows, gar, suffix, shown) {
    if (!shown.model) return null;
    return el(
      "section",
      { class: "chosen" },
      el("h3", {}, ...name(shown.model)),
      table(
        `Rates of ${shown.model}`,
        ["scenario", "n", "GAR", "Acc", ...Object.keys(OUTCOMES)],
        rows
          .filter((row) => row.model === shown.model)
          .map((row) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, el("a", { href: conversations(row) }, `${row.scenario} (${row.gold_action})`)),
              el("td", {}, row.n),
              el("td", {}, `${percent(row[gar])} ${interval(row[`${gar}_low`], row[`${gar}_high`])}`),
              el("td", {}, `${percent(row.acc)} ${interval(row.acc_low, row.acc_high)}`),
              Object.keys(OUTCOMES).map((outcome) => share(row, outcome, suffix, shown.view)),
            ),
          ),
      ),
    );
  }

  function share(row, outcome, suffix, view) {
    const value = row[`share_${outcome}${suffix}`];
    if (!value) return el("td", {}, percent(value));
    return el("td", {}, el("a", { href: conversations(row, { outcome, view }) }, percent(value)));
  }

  add("shares", {
    title: "Outcomes",
    table: "cells",
    about:
      "What became of the cases. Masked cases passed without the gold action; slack took it and failed. Choose a part to read its conversations.",
    choices: [{ label: "gold action counts", key: "view", options: () => Object.entries(VIEWS) }],
    draw(rows, shown) {
      const suffix = shown.view === "decisive" ? "_decisive" : "";
      return [
        outcomes(),
        el(
          "div",
          { class: "panels" },
          panels(rows).map(([title, own]) => bars(title, own, suffix, shown.view)),
        ),
      ];
    },
  });

  function bars(title, own, suffix, view) {
    const parts = own
      .flatMap((row) =>
        Object.keys(OUTCOMES).map((outcome) => ({
          row,
          model: row.model,
          outcome,
          share: row[`share_${outcome}${suffix}`],
        })),
      )
      .filter((part) => part.share);
    if (!parts.length) return empty(title);
    const drawn = Plot.plot({
      width: 440,
      height: 46 + 26 * own.length,
      marginLeft: 120,
      marginRight: 20,
      x: { domain: [0, 100], percent: true, label: "share of cases, %", ticks: 5 },
      y: {
        label: null,
        domain: [...new Set(own.map((row) => row.model))],
        tickFormat: (text) => (text.length > 18 ? `${text.slice(0, 17)}…` : text),
      },
      color: { type: "identity" },
      marks: [
        Plot.barX(
          parts,
          Plot.stackX({
            x: "share",
            y: "model",
            fill: (part) => OF_OUTCOME[part.outcome],
            stroke: "white",
            className: "parts",
            order: null,
          }),
        ),
        Plot.text(
          parts,
          Plot.stackX({
            x: "share",
            y: "model",
            text: (part) => (part.share > 0.07 ? percent(part.share).replace(/\.0$/, "") : ""),
            fill: "#111",
            pointerEvents: "none",
            order: null,
          }),
        ),
        Plot.tip(
          parts,
          Plot.pointer(
            Plot.stackX({
              x: "share",
              y: "model",
              title: (part) =>
                `${part.model}\n${part.outcome}: ${OUTCOMES[part.outcome]}\n${percent(part.share)} %, n = ${part.row.n}`,
              order: null,
            }),
          ),
        ),
      ],
    });
    leads(drawn, ".parts rect", parts, ({ row, outcome }) => conversations(row, { outcome, view }));
    const masked = parts
      .filter((part) => part.outcome === "masked")
      .map((part) => `${part.model} ${percent(part.share)} %`);
    return panel(title, drawn, masked.length ? `masked: ${masked.join(", ")}` : "no case is masked");
  }
})();
