// What a reader marks as wrong: kept in the browser, saved as JSON lines with the keys of the table actions.
"use strict";

explorer.corrections = (() => {
  const { el, choice, field, name, say } = explorer.elements;
  const KEY = ["model", "scenario", "perturbation", "case_id", "trial", "turn", "step", "attempt", "labeller"];
  const FIELDS = [...KEY, "was", "action", "note", "by", "time", "labeller_version"];
  const PLACE = () => `toolcal corrections ${explorer.about.id}`;
  const NUMBERS = ["trial", "turn", "step", "attempt"];
  let memory = null; // where the browser keeps nothing, or no more

  const keyOf = (line) => JSON.stringify(KEY.map((field) => line[field]));

  function all() {
    if (memory) return memory;
    try {
      return new Map(JSON.parse(localStorage.getItem(PLACE()) ?? "[]").map((line) => [keyOf(line), line]));
    } catch {
      return (memory = new Map());
    }
  }

  function keep(lines) {
    try {
      if (!memory) localStorage.setItem(PLACE(), JSON.stringify([...lines.values()]));
    } catch {
      memory = lines;
    }
    if (memory) memory = lines;
    count();
  }

  /** The number of marks, in the page's head. */
  function count() {
    const link = document.querySelector('#views a[href="#/corrections"]');
    if (link) link.textContent = `Corrections (${all().size})${memory ? ", not kept" : ""}`;
  }

  const storedName = () => {
    try {
      return localStorage.getItem("toolcal reader") ?? "";
    } catch {
      return "";
    }
  };

  /** What stands behind a label: a button to mark it as wrong, or the mark. */
  function mark(item, labeller, label, here) {
    if (!explorer.about.marked.includes(labeller)) return null; // what readers have corrected already
    if (label.action === "TOOL_CALL" && !label.leaked) return null; // told by its form: nothing to correct
    const place = el("span", { class: "correction" });
    const key = { ...here.run, turn: here.turn, step: item.step, attempt: item.attempt, labeller };
    const show = () => {
      const there = all().get(keyOf(key));
      place.replaceChildren(
        ...(there ? marked(there, show) : [button(() => place.replaceChildren(form(key, label, show)))]),
      );
    };
    show();
    return place;
  }

  const button = (click) => el("button", { type: "button", class: "small", on: { click } }, "Mark the label");

  function marked(line, show) {
    const remove = () => {
      const lines = all();
      lines.delete(keyOf(line));
      keep(lines);
      say("Mark removed");
      show();
    };
    return [
      el("strong", {}, line.action === line.was ? " marked as right" : ` marked as ${line.action}`),
      line.note ? [": ", ...name(line.note)] : "",
      " ",
      el("button", { type: "button", class: "small", on: { click: remove } }, "Remove the mark"),
    ].flat();
  }

  function form(key, label, show) {
    // A native call is no matter of words; the label's own class says that it is right.
    const others = explorer.about.actions.filter((action) => action !== label.action);
    const actions = [...others, [label.action, `${label.action}: the label is right`]];
    const of = `correct-${key.model}-${key.perturbation}-${key.turn}-${key.step}-${key.attempt}`;
    const right = choice("right class", actions, others[0], () => {}, `${of}-class`);
    const note = el("input", { type: "text", maxlength: 500 });
    const by = el("input", { type: "text", maxlength: 100, required: true, value: storedName(), autocomplete: "off" });
    const save = (event) => {
      event.preventDefault();
      const line = {
        ...key,
        was: label.action,
        action: right.querySelector("select").value,
        note: note.value.trim(),
        by: by.value.trim(),
        time: new Date().toISOString().replace(/\.\d+Z$/, "Z"),
        labeller_version: explorer.about.labellers[key.labeller] ?? null,
      };
      try {
        localStorage.setItem("toolcal reader", line.by);
      } catch {
        // asked for again, then
      }
      keep(all().set(keyOf(line), line));
      say("Marked; save all marks as a file under Corrections");
      show();
    };
    return el(
      "form",
      { class: "correct", on: { submit: save } },
      right,
      field("a word on it", note, `${of}-note`),
      field("your name", by, `${of}-by`),
      el("button", { type: "submit" }, "Mark"),
      el("button", { type: "button", on: { click: show } }, "Cancel"),
    );
  }

  /** JSON lines, in the order of the tables. */
  const lines = () =>
    [...all().values()]
      .sort((one, other) => keyOf(one).localeCompare(keyOf(other), "en", { numeric: true }))
      .map((line) => `${JSON.stringify(Object.fromEntries(FIELDS.map((field) => [field, line[field] ?? null])))}\n`)
      .join("");

  function save() {
    const url = URL.createObjectURL(new Blob([lines()], { type: "application/jsonl" }));
    el("a", { href: url, download: `corrections.${explorer.about.id}.jsonl` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  /** Whether a value can be that of a field, as the workflow will read it. */
  function fits(field, value) {
    if (NUMBERS.includes(field)) return Number.isInteger(value) && value >= 0;
    if (field === "action") return explorer.about.actions.includes(value);
    if (field === "was") return value === null || explorer.about.actions.includes(value);
    if (field === "labeller_version" && Number.isInteger(value)) return true;
    return typeof value === "string" || (value === null && ["note", "labeller_version"].includes(field));
  }

  /** Take up a file that was saved before; throws with the line that cannot be read. */
  function take(text) {
    const found = all();
    text.split("\n").forEach((written, at) => {
      if (!written.trim()) return;
      let line;
      try {
        line = JSON.parse(written);
      } catch {
        throw new Error(`Line ${at + 1} is no JSON.`);
      }
      const lacks = FIELDS.find((field) => line?.[field] === undefined);
      if (lacks) throw new Error(`Line ${at + 1} has no ${lacks}.`);
      const odd = FIELDS.find((field) => !fits(field, line[field]));
      if (odd) throw new Error(`Line ${at + 1}: ${odd} is not what it can be.`);
      found.set(keyOf(line), line);
    });
    keep(found);
  }

  explorer.address.register("corrections", async (room) => {
    const rows = [...all().values()];
    const error = el("p", { class: "error", role: "alert" });
    const file = el("input", { type: "file", accept: ".jsonl,.json,.txt" });
    file.addEventListener("change", async () => {
      try {
        take(await file.files[0].text());
        explorer.address.draw({ kept: true });
      } catch (problem) {
        error.textContent = `${file.files[0].name}: ${problem.message} No mark of it was taken.`;
      }
    });
    const clear = () => {
      if (!confirm("Remove all marks from this browser?")) return;
      keep(new Map());
      explorer.address.draw();
    };
    room.append(
      el("h1", {}, "Corrections"),
      el(
        "p",
        {},
        "Labels that you marked as wrong, or as right, in a conversation. They are kept in this browser only: save them as a file, " +
          "and name the file in the configuration (labels: corrections:) to have it applied.",
      ),
      el(
        "div",
        { class: "choices" },
        el("button", { type: "button", disabled: !rows.length, on: { click: save } }, "Save as a file"),
        field("take up a file", file),
        el("button", { type: "button", disabled: !rows.length, on: { click: clear } }, "Remove all"),
      ),
      error,
      memory && rows.length
        ? el("p", { class: "error", role: "alert" }, "This browser keeps no more: save the marks before the page is left.")
        : "",
    );
    explorer.grid.put(room, {
      label: "Corrections",
      none: "No label is marked yet.",
      rows,
      columns: [
        {
          name: "case_id",
          title: "case",
          kind: "text",
          show: (value, row) => el("a", { href: explorer.runs.address(row, {}) }, ...name(value)),
        },
        ...["model", "scenario", "perturbation", "labeller", "was", "action", "note", "by", "time"].map((field) => ({
          name: field,
          kind: "text",
        })),
        ...["turn", "step"].map((field) => ({ name: field, kind: "number" })),
      ],
    });
    return "Corrections";
  });

  return { mark, count, lines, take };
})();
