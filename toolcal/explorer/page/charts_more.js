// Charts of classes, of what perturbations moved, and of confidence.
"use strict";

(() => {
  const { el, name } = explorer.elements;
  const { percent, interval, number } = explorer.words;
  const { add, panels, panel, empty, values, outcomes, COLOURS, OF_OUTCOME } = explorer.charts;

  add("confusion", {
    title: "Classes of turns",
    table: "confusion",
    about:
      "What models did in turns, by what the turn called for: in each row the share of its turns, with their number.",
    begins: (rows) => ({ model: rows[0]?.model }),
    choices: [{ label: "model", key: "model", options: (rows) => values(rows, "model") }],
    draw(rows, shown) {
      const own = rows.filter((row) => row.model === shown.model);
      return el(
        "div",
        { class: "panels" },
        values(own, "scenario").map((scenario) =>
          matrix(
            scenario,
            own.filter((row) => row.scenario === scenario),
          ),
        ),
      );
    },
  });

  function matrix(scenario, rows) {
    const classes = [...explorer.about.actions, "NONE", "NOT_RECORDED"].filter((action) =>
      rows.some((row) => row.action === action && row.n),
    );
    const cell = (gold, action) => {
      const row = rows.find((one) => one.gold_action === gold && one.action === action);
      if (!row || !row.n) return el("td", {}, "0");
      const style = `background: rgba(86, 180, 233, ${(0.65 * (row.share ?? 0)).toFixed(2)})`;
      return el(
        "td",
        { style, class: gold === action ? "gold" : null },
        `${percent(row.share)} % `,
        el("small", {}, `n = ${row.n}`),
      );
    };
    return el(
      "figure",
      {},
      el(
        "table",
        { class: "matrix" },
        el("caption", {}, ...name(scenario)),
        el(
          "thead",
          {},
          el(
            "tr",
            {},
            el("th", { scope: "col" }, "the turn called for"),
            classes.map((action) => el("th", { scope: "col" }, action)),
          ),
        ),
        el(
          "tbody",
          {},
          values(rows, "gold_action").map((gold) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, gold),
              classes.map((action) => cell(gold, action)),
            ),
          ),
        ),
      ),
    );
  }

  const EFFECT = {
    about:
      "Change from the same cases without the perturbation, in points, with 95 % intervals (paired, clustered). A filled mark: p after Holm is below 0.05.",
    begins: () => ({ measure: "acc" }),
    choices: [{ label: "measure", key: "measure", options: (_, all) => values(all, "measure") }],
  };
  const effects = (whose) => ({
    draw: (rows, shown) => {
      const own = rows.filter((row) => row.measure === shown.measure);
      return el(
        "div",
        { class: "panels" },
        panels(own).map(([title, part]) =>
          moved(
            title,
            part.filter((row) => row.delta !== null),
            whose,
          ),
        ),
      );
    },
  });
  add("effects", { title: "Effects", table: "effects", ...EFFECT, ...effects("model") });
  add("family_effects", { title: "Effects by family", table: "family_effects", ...EFFECT, ...effects("family") });

  function moved(title, rows, whose) {
    if (!rows.length) return empty(title);
    const looks = { stroke: COLOURS.blue };
    const drawn = Plot.plot({
      width: 440,
      height: 60 + 24 * rows.length,
      marginLeft: 130,
      marginRight: 20,
      x: { label: "change, points", grid: true, percent: true, nice: true },
      y: { label: null, domain: values(rows, whose) },
      color: { type: "identity" },
      marks: [
        Plot.ruleX([0], { stroke: COLOURS.grey }),
        Plot.link(rows, { x1: "delta_low", x2: "delta_high", y1: whose, y2: whose, ...looks, strokeWidth: 1.5 }),
        Plot.dot(rows, {
          x: "delta",
          y: whose,
          r: 5,
          ...looks,
          fill: (row) => (row.p_holm !== null && row.p_holm < 0.05 ? COLOURS.blue : "white"),
        }),
        Plot.tip(
          rows,
          Plot.pointerY({
            x: "delta",
            y: whose,
            title: (row) =>
              `${row[whose]}\n${percent(row.baseline)} -> ${percent(row.perturbed)}\nchange ${percent(row.delta)} ${interval(row.delta_low, row.delta_high)}\n` +
              `${row.p_holm === null ? `no p: ${row.p_reason}` : `p after Holm ${number(row.p_holm)}`}\nn = ${row.n}`,
          }),
        ),
      ],
    });
    return panel(title, drawn, rows.map((row) => `${row[whose]} ${percent(row.delta)}`).join(", "));
  }

  add("confidence", {
    title: "Confidence by outcome",
    table: "turn_calibration",
    about: "How sure models were after the last turn, by what became of the case: mean, and the middle half.",
    draw(rows) {
      const own = rows.filter((row) => row.question === "case_passed" && row.action === "all" && row.outcome !== "all");
      return [
        outcomes(),
        el(
          "div",
          { class: "panels" },
          panels(own).map(([title, part]) =>
            sure(
              title,
              part.filter((row) => row.mean_confidence !== null),
            ),
          ),
        ),
      ];
    },
  });

  function sure(title, rows) {
    if (!rows.length) return empty(title);
    const line = (row) => `${row.model}, ${row.outcome}`;
    const drawn = Plot.plot({
      width: 440,
      height: 60 + 24 * rows.length,
      marginLeft: 170,
      marginRight: 20,
      x: { domain: [0, 100], percent: true, label: "stated confidence, %", grid: true },
      y: { label: null, domain: rows.map(line) },
      color: { type: "identity" },
      marks: [
        Plot.link(rows, {
          x1: "confidence_q25",
          x2: "confidence_q75",
          y1: line,
          y2: line,
          stroke: (row) => OF_OUTCOME[row.outcome],
          strokeWidth: 5,
        }),
        Plot.dot(rows, { x: "mean_confidence", y: line, r: 5, fill: "white", stroke: COLOURS.ink }),
        Plot.tip(
          rows,
          Plot.pointerY({
            x: "mean_confidence",
            y: line,
            title: (row) => `${line(row)}\nmean ${percent(row.mean_confidence)} %\nn = ${row.n_confident} of ${row.n}`,
          }),
        ),
      ],
    });
    return panel(title, drawn, rows.map((row) => `${line(row)}: ${percent(row.mean_confidence)} %`).join("; "));
  }

  add("reliability", {
    title: "Confidence study",
    table: "reliability",
    about:
      "Share of right answers by stated confidence, in ten bins; on the line an answer is right as often as it is said to be. The size of a mark is its number of answers.",
    begins: (rows) => ({ question_set: rows[0]?.question_set }),
    choices: [{ label: "question set", key: "question_set", options: (rows) => values(rows, "question_set") }],
    draw(rows, shown) {
      const cells = new Map();
      for (const row of rows.filter((one) => one.question_set === shown.question_set)) {
        const title = `${row.model}, ${row.tool === "none" ? "no tool" : row.tool}${row.noise ? `, noise ${percent(row.noise)} %` : ""}`;
        cells.set(title, [...(cells.get(title) ?? []), row]);
      }
      return el(
        "div",
        { class: "panels" },
        [...cells].map(([title, own]) =>
          reliable(
            title,
            own.filter((row) => row.n),
          ),
        ),
      );
    },
  });

  function reliable(title, rows) {
    if (!rows.length)
      return el(
        "figure",
        {},
        el("figcaption", {}, ...name(title)),
        el("p", { class: "none" }, "No confidence could be read."),
      );
    const drawn = Plot.plot({
      width: 300,
      height: 290,
      marginLeft: 42,
      marginBottom: 38,
      marginTop: 24,
      x: { domain: [0, 100], percent: true, label: "stated confidence, %", ticks: 5 },
      y: { domain: [0, 100], percent: true, label: "right, %", ticks: 5, grid: true },
      r: { range: [3, 10] },
      marks: [
        Plot.line(
          [
            [0, 0],
            [1, 1],
          ],
          { stroke: COLOURS.grey, strokeDasharray: "4 3" },
        ),
        Plot.link(rows, {
          x1: "confidence",
          x2: "confidence",
          y1: "accuracy_low",
          y2: "accuracy_high",
          stroke: COLOURS.blue,
          strokeOpacity: 0.5,
        }),
        Plot.dot(rows, { x: "confidence", y: "accuracy", r: "n", fill: COLOURS.blue }),
        Plot.tip(
          rows,
          Plot.pointer({
            x: "confidence",
            y: "accuracy",
            title: (row) =>
              `said ${percent(row.confidence)} %\nright ${percent(row.accuracy)} % ${interval(row.accuracy_low, row.accuracy_high)}\nn = ${row.n}`,
          }),
        ),
      ],
    });
    return panel(
      title,
      drawn,
      rows.map((row) => `said ${percent(row.confidence)} %, right ${percent(row.accuracy)} %, n = ${row.n}`).join("; "),
    );
  }
})();
