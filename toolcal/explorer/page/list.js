// The list of conversations: chosen by what they are and by what became of them.
"use strict";

(() => {
  const { el, choice, field, name } = explorer.elements;
  const { change, register, to } = explorer.address;
  const { OUTCOMES, VIEWS, percent, reason } = explorer.words;
  const { fitting, labellerOf, viewOf, address, SURE } = explorer.runs;

  const MANY = 20_000; // conversations; of so many the list begins with one model

  register("cases", async (room, asked) => {
    const sizes = explorer.data.rows(explorer.about.cells).reduce((sum, row) => sum + row.n + row.n_missing, 0);
    const given = Object.keys(asked).length || sizes < MANY ? asked : { model: Object.keys(explorer.about.folders)[0] };
    const labeller = labellerOf(given);
    const view = viewOf(given);
    const { rows, choices, of } = await fitting(given);
    const any = (label, key, values, words = (value) => value) =>
      choice(label, [["", "any"], ...values.map((value) => [value, words(value)])], given[key] ?? "", (value) =>
        change({ [key]: value }),
      );
    room.append(
      el("h1", {}, "Conversations"),
      el(
        "form",
        { class: "choices", "aria-label": "Choose conversations", on: { submit: (event) => event.preventDefault() } },
        choice("model", [["all", "any"], ...Object.keys(explorer.about.folders)], given.model ?? "all", (model) =>
          change({ model }),
        ),
        any("scenario", "scenario", choices("scenario")),
        any("perturbation", "perturbation", choices("perturbation")),
        choice("labeller", Object.keys(explorer.about.labellers), labeller, (value) => change({ labeller: value })),
        any("gold action", "gold", choices("gold_action")),
        choice("gold action counts", Object.entries(VIEWS), view, (value) => change({ view: value })),
        any("outcome", "outcome", Object.keys(OUTCOMES), (outcome) => `${outcome}: ${OUTCOMES[outcome]}`),
        any("class in the decisive turn", "class", choices(`${labeller}.class`)),
        any("grader's reason", "reason", choices("reason"), (type) => reason(type)),
        choices("triggered").length ? any("a probe acted", "acted", ["yes", "no"]) : null,
        choices("confidence").length
          ? any("confidence at the end", "sure", Object.keys(SURE), (key) => SURE[key][0])
          : null,
        any("labellers differ", "differ", ["yes"]),
        search(given),
      ),
      el(
        "p",
        { role: "status" },
        `${rows.length.toLocaleString("en")} of ${of.toLocaleString("en")} `,
        "(a conversation with two gold actions has two lines).",
      ),
    );
    explorer.grid.put(room, {
      label: "Conversations",
      rows,
      columns: columns(rows, { ...given, labeller, view }),
      height: "64vh",
    });
    return `${rows.length} conversations`;
  });

  function search(given) {
    const input = el("input", { type: "search", value: given.case ?? "" });
    input.addEventListener("change", () => change({ case: input.value }));
    return field("case id has", input);
  }

  function columns(rows, given) {
    const some = (name) => rows.some((row) => row[name]);
    const list = Object.fromEntries(Object.entries(given).filter(([, value]) => value));
    const text = (key, title, more = {}) => ({ name: key, title, kind: "text", ...more });
    return [
      text("case_id", "case", {
        frozen: true,
        show: (value, row) => (row.part === null ? name(value) : el("a", { href: address(row, list) }, ...name(value))),
      }),
      text(`${given.labeller}.${given.view}`, "outcome", {
        show: (outcome) => el("span", { class: `chip ${outcome}` }, outcome),
      }),
      text("model", "model"),
      text("scenario", "scenario"),
      text("perturbation", "perturbation"),
      some("trial") && { name: "trial", kind: "number" },
      text("gold_action", "gold action"),
      some(`${given.labeller}.class`) && text(`${given.labeller}.class`, "decisive turn"),
      text("passed", "passed"),
      some("passed_strict") && text("passed_strict", "strict"),
      text("reason", "grader's reason", { show: (type) => name(reason(type)), width: 280 }),
      some("triggered") && { name: "triggered", title: "probe acted", kind: "number" },
      some("confidence") && { name: "confidence", title: "confidence, %", kind: "number", show: percent },
      { name: "emissions", title: "responses", kind: "number" },
      text("status", "ended"),
    ].filter(Boolean);
  }
})();
