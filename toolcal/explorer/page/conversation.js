// A conversation: its verdict in plain words, and its turns.
"use strict";

explorer.conversation = (() => {
  const { el, text, table, marked, name } = explorer.elements;
  const { folded, drawCall, draw: drawEmission } = explorer.emission;
  const { OUTCOMES, STATUSES, FAULTS, percent, reason } = explorer.words;

  /** The verdict of a run: sentences, and what of the end state differs. */
  function verdict({ grade, outcomes, assertions }, labeller) {
    return el(
      "section",
      { class: "verdict" },
      el("h2", {}, "Verdict"),
      el(
        "ul",
        {},
        sentences(grade, outcomes ?? [], labeller).map((words) => el("li", {}, words)),
      ),
      grade.differences ? differences(grade.differences) : null,
      grade.detail ? folded("The grader's own words", text(grade.detail)) : null,
      grade.user_faults
        ? [
            el("h3", {}, "Faults of the simulated user"),
            el(
              "ul",
              {},
              grade.user_faults.map((one) =>
                el("li", {}, `${FAULTS[one.fault] ?? one.fault}: `, el("q", {}, ...marked(one.words))),
              ),
            ),
          ]
        : null,
      assertions
        ? [
            el("h3", {}, "Assertions of the task, by a judge"),
            el(
              "ul",
              {},
              assertions.map((one) =>
                el(
                  "li",
                  {},
                  `${one.assertion + 1}: ${one.verdict === null ? "undecided" : one.verdict ? "met" : "not met"}. `,
                  ...marked(one.reason ?? ""),
                ),
              ),
            ),
          ]
        : null,
    );
  }

  const ANY_RESPONSE = { true: "was taken in some response", false: "was not taken in any response" };
  const RULES = {
    TOOL_CALL: {
      true: "was taken: no reference action is missing",
      false: "was not taken: some reference action is missing",
    },
    REFUSE: { true: "was taken: nothing was written to the database", false: "was not taken: the database was written to" },
  };

  function sentences(grade, outcomes, labeller) {
    const found = [];
    if (grade.status !== "done") found.push(STATUSES[grade.status]);
    if (grade.passed === true) found.push("Passed by the benchmark's own grader.");
    if (grade.passed === false) found.push(`Failed by the benchmark's own grader: ${reason(grade.reason ?? null)}.`);
    if (grade.passed && grade.passed_strict === false)
      found.push(
        `Fails where the check that the benchmark leaves out is applied: ${reason(grade.reason_strict ?? null)}.`,
      );
    for (const outcome of outcomes.filter((one) => one.labeller === labeller)) {
      // Where the user speaks freely, the benchmark's rules decide, and not the class of some response.
      const rule = grade.gold_met?.[outcome.gold_action] === undefined ? null : RULES[outcome.gold_action];
      const taken =
        (rule ?? ANY_RESPONSE)[outcome.emitted_case_any] ?? "may have been taken: what decides it was not recorded";
      const due =
        { true: " and in the decisive turn", false: ", and not in the decisive turn" }[outcome.emitted_decisive] ?? "";
      const named = outcome.outcome_case_any;
      found.push(
        `The gold action ${outcome.gold_action} ${taken}${due}${rule ? "" : ` (labeller ${labeller})`}${named ? `: ${named}, that is, ${OUTCOMES[named]}` : ""}.`,
      );
    }
    if (grade.reward !== undefined) found.push(`Reward ${grade.reward}.`);
    if (grade.db_match !== undefined)
      found.push(`The database ends ${grade.db_match ? "as" : "otherwise than"} the reference actions leave it.`);
    if (grade.regrade_differs)
      found.push(
        `What was recorded differs from what is found here${grade.recorded_passed === undefined ? "" : ` (recorded: ${grade.recorded_passed ? "passed" : "failed"})`}.`,
      );
    return found;
  }

  function differences(rows) {
    return table(
      "What differs",
      ["of", "the model's", "the reference's"],
      rows.map((row) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, ...name(row.of)),
          [row.model, row.reference].map((value) =>
            el("td", {}, value === null ? "not there" : text(value, { class: "data" })),
          ),
        ),
      ),
      "What differs from the reference",
    );
  }

  /** What was there before the first turn. */
  function setting(run, told) {
    const first = told.tools?.["0"] ?? [];
    const { probe, renamed } = told.case;
    return el(
      "section",
      {},
      el("h2", {}, "Setting"),
      el(
        "p",
        {},
        `Gold action: ${told.case.gold_actions.join(", ") || "none"}. `,
        told.case.decisive_turn === undefined ? "" : `It is due in turn ${told.case.decisive_turn + 1}. `,
        probe ? `Probe ${probe.probe} acts on this run.` : "",
      ),
      told.case.gold ? reference(told.case.gold) : null,
      told.system ? folded("System message", text(told.system)) : null,
      first.length ? folded(`${first.length} tools from the start`, text(first.join("\n"))) : null,
      renamed
        ? folded(
            "Tools by other names",
            text(
              Object.entries(renamed)
                .map(([shown, own]) => `${shown} for ${own}`)
                .join("\n"),
            ),
          )
        : null,
    );
  }

  /** One turn. */
  function turn(at, run, told, labeller) {
    const own = told.turns[at];
    if (!own) return el("div", { class: "turn" }, el("p", { class: "none" }, "This conversation has no such turn."));
    const free = !run.scenario.startsWith("bfcl-");
    const decisive = told.case.decisive_turn === at;
    const excluded = (told.case.excluded_turns ?? []).includes(at);
    const gold = free || excluded ? null : decisive ? told.case.gold_actions[0] : "TOOL_CALL";
    const items = own.items ?? [];
    const reached = items.some((item) => item.role === "assistant");
    const arrived = at ? (told.tools?.[String(at)] ?? []) : [];
    return el(
      "div",
      { class: `turn${decisive ? " decisive" : ""}` },
      el(
        "p",
        { class: "facts" },
        decisive ? el("strong", {}, "Decisive turn. ") : null,
        gold ? `Gold here: ${gold}. ` : excluded ? "This turn is in no rate by turn. " : null,
        arrived.length ? `Arrives: ${arrived.join(", ")}. ` : null,
        checks(told.grade.turn_checks?.[at]),
        reached || free ? null : el("em", {}, "The run did not get to this turn."),
      ),
      own.gold ? reference(own.gold) : null,
      items.map((item) =>
        item.role === "assistant" ? drawEmission(item, { run, turn: at, gold, labeller }) : message(item),
      ),
      own.confidence ? confidence(own.confidence) : null,
    );
  }

  /** The benchmark's own calls, of a turn or of a whole task. */
  function reference(gold) {
    const lines = gold.map((call) => (typeof call === "string" ? call : JSON.stringify(call)));
    return folded(`Reference: ${explorer.words.count(gold.length, "call")}`, text(lines.join("\n"), { class: "data" }));
  }

  const CHECKS = {
    state: ["the state is right", "the state is wrong"],
    response: ["all was looked up", "something was not looked up"],
    irrelevance: ["nothing was called, as is right here", "something was called, which this check forbids"],
  };

  function checks(found) {
    const words = Object.entries(found ?? {})
      .filter(([, value]) => value !== null)
      .map(([check, value]) => CHECKS[check][value ? 0 : 1]);
    return words.length ? `Checked: ${words.join(", ")}. ` : null;
  }

  const ROLES = { user: "User", system: "System", tool: "Answer to a call of the user" };

  function message(item) {
    return el(
      "article",
      { class: `said ${item.role}` },
      el("h3", {}, ROLES[item.role] ?? item.role),
      item.content ? (item.role === "system" ? folded("The whole of it", text(item.content)) : text(item.content)) : null,
      item.calls
        ? el(
            "ul",
            { class: "calls", "aria-label": "Calls of the user" },
            item.calls.map((call) => el("li", {}, drawCall(call))),
          )
        : null,
    );
  }

  function confidence(found) {
    const value = found.confidence;
    return el(
      "p",
      { class: "event" },
      value === undefined
        ? `Asked how sure it is, it gave no confidence (${found.confidence_reason ?? found.status}).`
        : `Asked how sure it is that this was what the user wanted: ${percent(value)} %.`,
    );
  }

  return { verdict, setting, turn };
})();
