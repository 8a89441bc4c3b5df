// What ran, of what, and what is missing.
"use strict";

(() => {
  const { el, name, table } = explorer.elements;
  const { count } = explorer.words;

  explorer.address.register("overview", async (room) => {
    const { about } = explorer;
    const cells = explorer.data.rows(about.cells);
    const sum = (column) => cells.reduce((total, row) => total + row[column], 0);
    const parts = [
      el("h1", {}, "What ran"),
      el(
        "p",
        { class: "lead" },
        `${count(Object.keys(about.models).length, "model")} in ${count(about.scenarios.length, "scenario")}, ` +
          `${count(cells.length, "cell")} (model, scenario and perturbation), ` +
          `${count(sum("n"), "conversation")} with a verdict.`,
      ),
      el(
        "p",
        {},
        "Gold Action Recall (GAR) is the share of cases in which the model took the kind of action that the situation calls " +
          "for: call a tool, ask, or refuse. Acc is the benchmark's own pass rate. If a pass needed the gold action, Acc " +
          "could not exceed GAR: where it does, cases passed without it (masked). Where GAR exceeds Acc, the right kind of " +
          "action was carried out badly (slack).",
      ),
      ways(),
      missing(cells, sum),
      coverage(cells),
      perturbations(about.perturbations),
      versions(about),
    ];
    room.append(...parts.filter(Boolean));
    return "Overview";
  });

  function ways() {
    const to = explorer.address.to;
    const items = [
      [to("charts"), "GAR against Acc", "which models pass without the gold action, and where execution fails"],
      [to("cases", { outcome: "masked" }), "Masked cases", "conversations that passed without the gold action"],
      [to("cases", { outcome: "slack" }), "Slack", "conversations that took it and failed"],
      [to("table", { name: "cells" }), "All rates", "a line per model, scenario, perturbation and gold action"],
    ];
    return el(
      "ul",
      { class: "ways" },
      items.map(([href, title, words]) => el("li", {}, el("a", { href }, title), " ", words)),
    );
  }

  const MISSING = {
    n_missing: "without a verdict (not run, or no answer of the endpoint), which is in no rate",
    n_context_exceeded: "ended by a context overflow, which counts as failed",
    n_step_limit: "ended by the limit of steps, which counts as failed",
  };

  function missing(cells, sum) {
    const lines = Object.entries(MISSING).filter(([column]) => sum(column));
    return el(
      "section",
      {},
      el("h2", {}, "What is missing"),
      lines.length ? null : el("p", {}, "Nothing: every planned conversation has a verdict."),
      lines.map(([column, words]) => {
        const models = [...new Set(cells.filter((row) => row[column]).map((row) => row.model))];
        return el("p", {}, `${count(sum(column), "conversation")} ${words}: `, ...name(models.join(", ")), ".");
      }),
      kept(),
    );
  }

  function kept() {
    const { cases, sample } = explorer.about.explorer;
    const words = {
      all: "All conversations are here.",
      disagreements: "Of the conversations those are here in which verdict, gold action or labellers disagree.",
      sample: `Of the conversations those of ${count(sample, "case")} of each scenario are here.`,
    };
    return el("p", {}, words[cases], cases === "all" ? null : " The list names all.");
  }

  /** How many conversations each model has in each scenario, all perturbations together. */
  function coverage(cells) {
    const scenarios = [...new Set(cells.map((row) => row.scenario))];
    const models = [...new Set(cells.map((row) => row.model))];
    const cell = (model, scenario) => {
      const rows = cells.filter((row) => row.model === model && row.scenario === scenario);
      if (!rows.length) return el("td", {}, "-");
      const n = rows.reduce((total, row) => total + row.n, 0);
      const lacks = rows.reduce((total, row) => total + row.n_missing, 0);
      const href = explorer.address.to("cases", { model, scenario });
      return el("td", {}, el("a", { href }, n.toLocaleString("en")), lacks ? ` (+${lacks} missing)` : null);
    };
    return el(
      "section",
      {},
      el("h2", {}, "Conversations with a verdict"),
      table(
        "Conversations by model and scenario",
        ["model", "family", ...scenarios],
        models.map((model) =>
          el(
            "tr",
            {},
            el("th", { scope: "row" }, ...name(model)),
            el("td", {}, ...name(explorer.about.models[model]?.family ?? "-")),
            scenarios.map((scenario) => cell(model, scenario)),
          ),
        ),
      ),
    );
  }

  function perturbations(entries) {
    if (!Object.keys(entries).length) return null;
    return el(
      "section",
      {},
      el("h2", {}, "Perturbations"),
      el(
        "dl",
        {},
        Object.entries(entries).map(([key, entry]) => [
          el("dt", {}, ...name(key)),
          el("dd", {}, `${entry.kind === "probe" ? "probe" : "edit"} ${entry.name}: `, ...name(entry.rationale)),
        ]),
      ),
    );
  }

  function versions({ run, labellers }) {
    const git = run.git ? `${run.git.commit.slice(0, 12)}${run.git.dirty ? ", with changes" : ""}` : "not known";
    const lines = [
      ["toolcal", run.toolcal],
      ["commit", git],
      ["seed", run.seed],
      ["Python", run.python],
      ...Object.entries(labellers).map(([key, version]) => [
        `labeller ${key}`,
        version && `rules of version ${version}`,
      ]),
      ...Object.entries(run.revisions),
      ...Object.entries(run.packages),
    ];
    return el(
      "details",
      {},
      el("summary", {}, "Versions"),
      el(
        "dl",
        { class: "pairs" },
        lines.map(([key, value]) => [el("dt", {}, ...name(key)), el("dd", {}, ...name(value ?? "-"))]),
      ),
    );
  }
})();
