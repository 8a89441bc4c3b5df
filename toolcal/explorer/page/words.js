// What the tables' names mean, in plain words.
"use strict";

explorer.words = (() => {
  const OUTCOMES = {
    calibrated: "took the gold action, passed",
    slack: "took the gold action, failed",
    masked: "passed without the gold action",
    failed: "neither took the gold action nor passed",
  };
  const VIEWS = { case_any: "in any response", decisive: "in the decisive turn" };
  const STATUSES = {
    done: "The conversation ran to its end.",
    step_limit: "The conversation was stopped at the limit of steps.",
    premature: "The conversation broke off before its end.",
    context_exceeded: "The model's context was exceeded.",
    infra_error: "The endpoint gave no answer; the run is in no rate.",
    not_graded: "The recorded run has no verdict; it is in no rate.",
    missing: "This run was planned, but is not there.",
  };
  const REASONS = {
    "multi_turn:instance_state_mismatch":
      "the state at the end of a turn is not the one that the reference calls leave",
    "multi_turn:execution_response_mismatch": "something that the reference calls look up was never looked up",
    "multi_turn:empty_turn_model_response": "nothing was called in a turn that has reference calls",
    "multi_turn:force_terminated": "the run ended before all turns were reached",
    "multi_turn:inference_error": "the model gave no usable answer",
    "multi_turn:irrelevance_error:decoder_success": "something was called in a turn in which nothing should be",
    reward: "the benchmark's reward is below 1",
  };
  const EMISSIONS = {
    empty: "empty response",
    truncated: "cut off at the limit of tokens",
    malformed_call: "a tool call that cannot be read",
    context_exceeded: "context exceeded",
    infra_error: "no answer of the endpoint",
    not_recorded: "not recorded",
  };
  const FAULTS = {
    ends_at_once: "ends with its first message",
    says_nothing: "says nothing",
    stops_at_confirmation: "leaves while the agent waits for its answer",
    unknown_fact: "tells something that it cannot know",
    breaks_role: "falls out of its role",
    out_of_scope: "says that its scenario does not tell how to go on",
  };

  // Why a probe acted, or did not.
  const DECISIONS = {
    no_call: "no tool was called",
    mc: "the call names no tool of this turn",
    ur: "a value of the call was found nowhere",
    once_a_turn: "it acts once a turn",
    once_a_case: "it acts once a case",
    asks: "the response asks",
    not_suspected: "nothing is suspected",
    arrived: "the tool that was held out has arrived",
    not_decisive: "the turn is not the decisive one",
  };

  const percent = (rate) => (rate === null || rate === undefined ? "-" : (100 * rate).toFixed(1));
  const interval = (low, high) => (low === null || low === undefined ? "" : `[${percent(low)}, ${percent(high)}]`);
  const number = (value) => value.toLocaleString("en", { maximumFractionDigits: 3 });
  const reason = (type) => (type === null ? "no reason is given" : (REASONS[type] ?? type));
  const count = (n, one, more = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

  return { OUTCOMES, VIEWS, STATUSES, EMISSIONS, FAULTS, DECISIONS, percent, interval, number, reason, count };
})();
