// The lists of the models' conversations, and which of them fit a choice.
"use strict";

explorer.runs = (() => {
  const SURE = {
    none: ["none stated", (value) => value === null],
    low: ["below 50 %", (value) => value !== null && value < 0.5],
    middle: ["50 to 80 %", (value) => value !== null && value >= 0.5 && value < 0.8],
    high: ["80 % or more", (value) => value !== null && value >= 0.8],
  };
  const ALL = "all"; // models
  const loaded = new Map();

  /** A model's list: { rows, get(column) -> values }. */
  async function listOf(model) {
    if (!loaded.has(model)) {
      const { rows, columns } = await explorer.data.load(`conversations/${explorer.about.folders[model]}/cases`);
      const values = {};
      for (const [name, column] of Object.entries(columns)) {
        values[name] = Array.isArray(column) ? column : column.at.map((at) => (at === null ? null : column.words[at]));
      }
      loaded.set(model, { model, rows, columns: values });
    }
    return loaded.get(model);
  }

  /** The labeller that is chosen, and the view of its GAR. */
  const labellerOf = (given) =>
    Object.hasOwn(explorer.about.labellers, given.labeller ?? "") ? given.labeller : Object.keys(explorer.about.labellers)[0];
  const viewOf = (given) => (given.view === "decisive" ? "decisive" : "case_any");

  /** What each choice asks of a row, by column: { column: test(value) }. */
  function tests(given) {
    const labeller = labellerOf(given);
    const equal = (wanted) => (value) => value === wanted;
    const found = {};
    if (given.scenario) found.scenario = equal(given.scenario);
    if (given.perturbation) found.perturbation = equal(given.perturbation);
    if (given.gold) found.gold_action = equal(given.gold);
    if (given.case) found.case_id = (value) => value.includes(given.case);
    if (given.outcome) found[`${labeller}.${viewOf(given)}`] = equal(given.outcome);
    if (given.class) found[`${labeller}.class`] = equal(given.class);
    if (given.reason) found.reason = equal(given.reason);
    if (given.acted) found.triggered = (value) => (given.acted === "yes") === Boolean(value);
    if (Object.hasOwn(SURE, given.sure ?? "")) found.confidence = SURE[given.sure][1];
    if (given.differ) found.differs = (value) => Boolean(value);
    return Object.entries(found);
  }

  /** The rows that fit, in the order of the table's key; and of all rows the values that can be chosen. */
  async function fitting(given) {
    const models = given.model && given.model !== ALL ? [given.model] : Object.keys(explorer.about.folders);
    const asked = tests(given);
    const rows = [];
    const lists = await Promise.all(models.filter((model) => Object.hasOwn(explorer.about.folders, model)).map(listOf));
    for (const list of lists) {
      const columns = asked.map(([name, test]) => [list.columns[name], test]);
      for (let at = 0; at < list.rows; at += 1) {
        if (columns.every(([values, test]) => test(values?.[at] ?? null))) rows.push(row(list, at));
      }
    }
    const choices = (name) =>
      [...new Set(lists.flatMap((list) => [...new Set(list.columns[name] ?? [])]))]
        .filter((value) => value !== null)
        .sort();
    return { rows, choices, of: lists.reduce((sum, list) => sum + list.rows, 0) };
  }

  const row = (list, at) => ({
    model: list.model,
    ...Object.fromEntries(Object.entries(list.columns).map(([name, values]) => [name, values[at]])),
  });

  /** The address of a conversation; `list` is the choice that it was found by. */
  const address = (row, list) =>
    explorer.address.to("case", {
      model: row.model,
      scenario: row.scenario,
      perturbation: row.perturbation,
      case: row.case_id,
      trial: row.trial || "",
      list: new URLSearchParams(list).toString(),
    });

  const same = (row, given) =>
    row.model === given.model &&
    row.scenario === given.scenario &&
    row.perturbation === given.perturbation &&
    row.case_id === given.case &&
    row.trial === Number(given.trial ?? 0);

  /** The conversation of a row of the list; null where it was not kept. */
  async function conversation(row) {
    if (row.part === null) return null;
    const file = `conversations/${explorer.about.folders[row.model]}/${row.scenario}.${row.perturbation}.${row.part}`;
    const data = await explorer.data.load(file);
    const found = data.conversations.find((one) => one.case_id === row.case_id && one.trial === row.trial);
    return { ...found, system: data.systems[found.system], tools: data.tools[found.tools] };
  }

  return { fitting, labellerOf, viewOf, address, same, conversation, SURE };
})();
