// The view of one conversation, or of two side by side; previous and next of the list by which it was found.
"use strict";

(() => {
  const { el, choice, name } = explorer.elements;
  const { change, register, to } = explorer.address;
  const { fitting, labellerOf, address, same, conversation } = explorer.runs;
  const { verdict, setting, turn } = explorer.conversation;

  register("case", async (room, given) => {
    const own = { model: given.model, scenario: given.scenario, perturbation: given.perturbation };
    const list = Object.fromEntries(new URLSearchParams(given.list ?? new URLSearchParams(own).toString()));
    const labeller = labellerOf(given.labeller ? given : list);
    const row = (await fitting(own)).rows.find((one) => same(one, given));
    if (!row)
      throw new Error(
        `There is no conversation ${given.case ?? ""} of ${given.model ?? "?"} in ${given.scenario ?? "?"}, ${given.perturbation ?? "?"}.`,
      );
    const beside = given.beside ? await besideIt(row, given.beside) : null;
    const told = (
      await Promise.all([row, beside].filter(Boolean).map(async (one) => [one, await conversation(one)]))
    ).map(([one, found]) => ({ run: runOf(one), row: one, told: found }));
    room.append(
      el("p", { class: "crumbs" }, el("a", { href: to("cases", list) }, "Conversations")),
      el(
        "h1",
        {},
        ...name(row.case_id),
        el(
          "small",
          {},
          ` ${row.model}, ${row.scenario}, ${row.perturbation}${row.trial ? `, trial ${row.trial}` : ""}`,
        ),
      ),
      steps(row, list),
      el(
        "div",
        { class: "choices" },
        choice("labeller", Object.keys(explorer.about.labellers), labeller, (value) => change({ labeller: value })),
        choice("beside it", [["", "nothing"], ...(await options(row))], given.beside ?? "", (value) =>
          change({ beside: value }),
        ),
      ),
      ...(told.every((one) => one.told)
        ? whole(told, labeller)
        : [el("p", { class: "none" }, "This conversation was left out (explorer: cases: in the configuration).")]),
    );
    return `${row.case_id}, ${row.model}`;
  });

  const runOf = ({ model, scenario, perturbation, case_id, trial }) => ({
    model,
    scenario,
    perturbation,
    case_id,
    trial,
  });

  /** What can stand beside: the model's other perturbations of the case, then other models in the same cell. */
  async function options(row) {
    const own = (await fitting({ model: row.model, scenario: row.scenario, case: row.case_id })).rows;
    const there = own.filter(
      (one) => one.case_id === row.case_id && one.perturbation !== row.perturbation && one.part !== null,
    );
    const perturbations = [...new Set(there.map((one) => one.perturbation))];
    const models = Object.keys(explorer.about.folders).filter((model) => model !== row.model);
    return [
      ...perturbations.map((value) => [`perturbation ${value}`, value]),
      ...models.map((value) => [`model ${value}`, value]),
    ];
  }

  /** The run that is to stand beside, as an option names it. */
  async function besideIt(row, option) {
    const [key, ...rest] = option.split(" ");
    const wanted = { model: row.model, scenario: row.scenario, perturbation: row.perturbation, [key]: rest.join(" ") };
    const { rows } = await fitting(wanted);
    const found = rows.find((one) => one.case_id === row.case_id && one.trial === row.trial);
    if (!found) throw new Error(`There is no conversation of this case with ${option} to stand beside it.`);
    return found;
  }

  /** The ways to the conversations before and after, for the keys too; they may come later than the conversation. */
  function steps(row, list) {
    const nav = el("nav", { class: "steps", "aria-label": "Through the list" });
    fillSteps(nav, row, list, location.hash);
    return nav;
  }

  async function fillSteps(nav, row, list, hash) {
    const { rows } = await fitting(list);
    if (location.hash !== hash) return; // the reader has gone on
    const there = [
      ...new Map(rows.filter((one) => one.part !== null).map((one) => [address(one, list), one])).entries(),
    ];
    const at = there.findIndex(([, one]) =>
      ["model", "scenario", "perturbation", "case_id", "trial"].every((key) => one[key] === row[key]),
    );
    const way = (place, words, key) => {
      const href = at < 0 ? null : there[place]?.[0];
      if (href) explorer.keys.on(key, () => (location.hash = href));
      return href
        ? el("a", { href, "aria-keyshortcuts": key, rel: words === "Next" ? "next" : "prev" }, words)
        : el("span", { class: "none" }, words);
    };
    nav.append(
      way(at - 1, "Previous", "ArrowLeft"),
      el("span", {}, at < 0 ? `not in the list of ${there.length}` : `${at + 1} of ${there.length}`),
      way(at + 1, "Next", "ArrowRight"),
      el("small", {}, "also by the arrow keys"),
    );
    nav.dataset.built = "";
  }

  function whole(told, labeller) {
    const beside = told.length > 1;
    const turns = Math.max(...told.map((one) => one.told.turns.length));
    const pair = (draw) =>
      el(
        "div",
        { class: beside ? "pair" : null },
        told.map((one) =>
          el(
            "div",
            { class: "side" },
            beside ? el("p", { class: "whose" }, ...name(`${one.run.model}, ${one.run.perturbation}`)) : null,
            draw(one),
          ),
        ),
      );
    return [
      pair(({ told: own }) => verdict(own, labeller)),
      pair(({ run, told: own }) => setting(run, own)),
      ...Array.from({ length: turns }, (_, at) =>
        el(
          "section",
          { "aria-label": `Turn ${at + 1}` },
          el("h2", {}, `Turn ${at + 1}`),
          pair(({ run, told: own }) => turn(at, run, own, labeller)),
        ),
      ),
    ];
  }
})();
