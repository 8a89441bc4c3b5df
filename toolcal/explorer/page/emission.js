// One response of a model: its text and calls, its class with the words that made it so, and what probes and rules found.
"use strict";

explorer.emission = (() => {
  const { el, text, marked, name } = explorer.elements;
  const { DECISIONS, EMISSIONS } = explorer.words;

  /** `here` says where it stands: { given, turn, gold (the turn's gold action), labeller }. */
  function draw(item, here) {
    const who = { probe: "Probe, in place of the model", benchmark: "Benchmark" }[item.origin] ?? "Model";
    return el(
      "article",
      { class: `said model${item.retracted ? " retracted" : ""}` },
      el(
        "h3",
        {},
        who,
        el("small", {}, ` response ${item.step + 1}${item.attempt ? `, asked again (${item.attempt})` : ""}`),
      ),
      item.retracted
        ? el("p", { class: "note" }, "Taken back by a probe: out of the conversation and of its verdict.")
        : null,
      item.reasoning ? folded("Reasoning", text(item.reasoning)) : null,
      item.content ? text(item.content) : null,
      item.text_lost ? el("p", { class: "note" }, "The recording has no text of this response.") : null,
      item.status ? el("p", { class: "note" }, `Status: ${EMISSIONS[item.status] ?? item.status}.`) : null,
      item.calls
        ? el(
            "ul",
            { class: "calls", "aria-label": "Tool calls" },
            item.calls.map((call) => el("li", {}, drawCall(call))),
          )
        : null,
      item.labels ? labels(item, here) : null,
      (item.events ?? []).map(event),
      (item.writes ?? []).map(write),
    );
  }

  const folded = (title, ...content) => el("details", {}, el("summary", {}, title), ...content);

  function drawCall(call) {
    const given = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
    const ran = call.executed === undefined ? "" : call.executed ? "" : " - did not run";
    const notes = [
      call.held_out && "a tool that is not there in this turn",
      call.state_changed && "changed the state",
      call.dropped && call.executed === undefined && "was not run",
    ].filter(Boolean);
    return el(
      "details",
      { class: "call" },
      el(
        "summary",
        {},
        el("code", {}, ...name(call.name ?? "?")),
        el("span", { class: "peek" }, ...name(given.slice(0, 90)), given.length > 90 ? "…" : ""),
        ran,
        notes.length ? el("small", {}, ` (${notes.join(", ")})`) : null,
      ),
      el("h4", {}, "Arguments"),
      text(pretty(given), { class: "data" }),
      call.error ? [el("h4", {}, "Error"), text(call.error, { class: "data" })] : null,
      call.result === undefined ? null : [el("h4", {}, "Result"), text(pretty(call.result), { class: "data" })],
    );
  }

  /** JSON in lines, other text as it is. */
  function pretty(value) {
    if (typeof value !== "string") return JSON.stringify(value, null, 1);
    if (value.length > 200_000) return value;
    try {
      return JSON.stringify(JSON.parse(value), null, 1);
    } catch {
      return value;
    }
  }

  function labels(item, here) {
    const own = item.labels[here.labeller];
    const others = Object.entries(item.labels).filter(([labeller]) => labeller !== here.labeller);
    return el(
      "div",
      { class: "labels" },
      own
        ? one(
            here.labeller,
            own,
            here.gold,
            own.action ? explorer.corrections.mark(item, here.labeller, own, here) : null,
          )
        : null,
      others.map(([labeller, label]) =>
        own && label.action === own.action
          ? el(
              "p",
              {},
              el(
                "small",
                {},
                `${labeller}: the same`,
                label.cue && label.cue !== own.cue ? [" by ", el("q", {}, ...marked(label.cue))] : null,
              ),
            )
          : one(labeller, label, here.gold, null),
      ),
    );
  }

  /** What one labeller says, with the words that decided it. */
  function one(labeller, label, gold, mark) {
    return el(
      "p",
      {},
      el("small", {}, `${labeller}: `),
      label.action ? chip(label.action, gold) : el("span", { class: "chip none" }, "no class"),
      label.cue ? [" by ", el("q", {}, ...marked(label.cue))] : null,
      label.sub ? el("small", {}, ` (${label.sub.join(", ")})`) : null,
      label.flags ? el("small", {}, ` also: ${label.flags.filter((flag) => flag !== label.action).join(", ")}`) : null,
      label.leaked ? el("small", {}, " the call stood in the text") : null,
      " ",
      mark,
    );
  }

  /** A class; said too if it is the gold one. */
  const chip = (action, gold) =>
    el("span", { class: `chip ${action}` }, action, action === gold ? el("span", { class: "right" }, " = gold") : null);

  function event(event) {
    const found = Object.keys(event.detector ?? {}).length
      ? folded("What the detector found", text(event.detector, { class: "data" }))
      : null;
    return el(
      "div",
      { class: "event" },
      el(
        "p",
        {},
        el("strong", {}, `Probe ${event.probe}`),
        event.triggered ? " acted here" : " did not act here",
        ` (at a ${event.seam}: ${DECISIONS[event.reason] ?? EMISSIONS[event.reason] ?? event.reason}).`,
      ),
      found,
      event.appended ? folded("What it put into the conversation", text(event.appended)) : null,
    );
  }

  function write(write) {
    const state = write.confirmed ? "confirmed by the user" : "not confirmed by the user";
    return el(
      "div",
      { class: "event" },
      el(
        "p",
        {},
        el("strong", {}, "Write "),
        el("code", {}, ...name(write.tool)),
        `: ${write.to_be_confirmed ? state : "needs no confirmation"}`,
        write.executed ? "" : "; the tool rejected it",
        ". ",
        ...marked(write.why ?? ""),
      ),
      write.deciding_text ? folded("The message that decided it", text(write.deciding_text)) : null,
      (write.judged ?? []).map((one) =>
        el(
          "p",
          {},
          ...name(one.judge),
          `: ${one.verdict === null ? "undecided" : one.verdict ? "confirmed" : "not confirmed"}. `,
          ...marked(one.reason ?? ""),
        ),
      ),
    );
  }

  return { draw, drawCall, chip, folded };
})();
