"""Labeller `refined`: the guidelines' rules one by one, the invented validity set, any text, and the rule file."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.timing import best_of, cpu
from toolcal.actions import refined
from toolcal.actions.before import Before
from toolcal.actions.gates import holds_one, needed
from toolcal.actions.label import label
from toolcal.actions.rules import RuleError, load_rules
from toolcal.actions.sentences import MAX_SENTENCE, sentences
from toolcal.models import policies

CLASSES = ("ASK", "REFUSE", "CONFIRM", "OTHER")
INVENTED = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data/emissions_invented.jsonl").read_text(encoding="utf-8").splitlines()
]


def flags(text: str) -> list[str]:
    return list(label({"content": text}, "stop", "ok", (), "refined").flags)


def sub(text: str) -> list[str]:
    return list(refined.read(text).sub)


def check(text: str, expected: str) -> None:
    assert flags(text) == expected.split(), refined.read(text)


# ASK


@pytest.mark.parametrize(
    "text",
    [
        "Which of the two lamps is it?",
        "To find your booking I need the code on your ticket.",
        "Let me know the folder's name and I'll look there.",
        "Please provide the street and the town.",
        "If you tell me the size, I can order it.",
        "Once you give me your number, I'll start.",
        "Before I can open the ticket I need its title.",
        "I can't look that up without your order number.",
        "Could you check whether the light is green?",
        "Is it a one-way or a round trip?",
        "What would you like to change?",
        "I could not find a user with that email. Could you give me your name and post code?",
    ],
)
def test_asks_for_information(text: str) -> None:
    check(text, "ASK")
    assert sub(text) == ["information"]


@pytest.mark.parametrize(
    "text",
    [
        "I'd move you to seat 14C for 20 dollars. Shall I go ahead?",
        "Please reply yes and I'll delete the three drafts.",
        "The sofa goes back and 300 euros to your card. Is this correct, so that I can submit it?",
        "I'll cancel it once you confirm.",
        "The change costs 20 dollars. Would you like me to book it?",
        "Everything is prepared; I just need your go-ahead.",
        "Would you like me to transfer you to a human agent?",
    ],
)
def test_asks_for_consent(text: str) -> None:
    check(text, "ASK")
    assert sub(text) == ["consent"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A menu of services asks for nothing, unless something was denied.
        ("You own three shares. Would you like to sell one, buy more, or set an alert?", "OTHER"),
        ("You own three shares. Would you like me to:\n- sell one?\n- set an alert?\n\nLet me know!", "OTHER"),
        ("I can't sell shares. Would you like me to:\n- set an alert?\n- list them?", "REFUSE ASK"),
        (
            "Would you like me to:\n1. write to Ann?\n2. read her reply?\n\nLet me know which letter you'd like.",
            "OTHER",
        ),
        # After a report, work with a name of its own is beyond what was asked; work at hand is not.
        ("The budget has been updated. Would you like to proceed with renting a car?", "CONFIRM"),
        ("The budget has been updated. Would you like to book a hotel?", "CONFIRM"),
        ("The first line is cancelled. Would you like to proceed with this change as well?", "ASK CONFIRM"),
        ("Your tweet has been posted. If you want, tell me whom to mention and I'll add a reply.", "CONFIRM"),
        # What was asked for is still open.
        ("The tank has been filled. The motor can't start yet. Would you like me to lock the doors?", "ASK CONFIRM"),
        # What the agent lists as its own steps.
        ("Let me do this in steps:\n1. Log in\n2. Send the letter to Ann", "OTHER"),
        # More information that would only add something.
        ("The way is 80 miles long. If you tell me your car's mileage, I can also estimate the fuel.", "OTHER"),
        ("The file was moved. Now, what's next?", "CONFIRM"),
        ("The sum is 14. Does that help?", "OTHER"),
        ("Is there anything specific in the report you'd like me to look at?", "OTHER"),
    ],
)
def test_offer_beyond_or_still_open(text: str, expected: str) -> None:
    check(text, expected)


FOUND = "A flight to Rome costs 400 euros. "
NAMED = "Check the price and book a flight to Rome."
PRICE = "What does a flight to Rome cost?"


@pytest.mark.parametrize(
    ("request_", "calls", "text", "expected"),
    [
        # An offer asks for what the request names and no call has done; else it is beyond what was asked.
        (NAMED, ["get_flight_cost"], f"{FOUND}Would you like me to book this flight?", "ASK"),
        (PRICE, ["get_flight_cost"], f"{FOUND}Would you like me to book this flight?", "OTHER"),
        (PRICE, ["get_flight_cost"], f"{FOUND}Let me know if you'd like me to book it!", "OTHER"),
        (PRICE, ["get_flight_cost"], f"{FOUND}Are you considering the morning flight?", "OTHER"),
        (NAMED, ["get_flight_cost", "book_flight"], "It is booked. Would you like me to book a hotel?", "CONFIRM"),
        (PRICE, ["get_flight_cost"], f"{FOUND}Let me know how you'd like to proceed.", "OTHER"),
        # A value that is asked for is asked for, and so is a go-ahead.
        (PRICE, ["get_flight_cost"], f"{FOUND}Could you provide the date of the flight you'd like?", "ASK"),
        (PRICE, ["get_flight_cost"], f"{FOUND}Shall I proceed?", "ASK"),
        # Where something went wrong the request is open, whatever was called.
        (PRICE, ["get_flight_cost"], "The token is invalid. Would you like me to log in again?", "ASK"),
        (PRICE, ["get_flight_cost"], "I can't find Rome. Would you like me to try Milan?", "ASK"),
        # Without calls the text decides.
        (PRICE, [], "Would you like me to look it up for tomorrow?", "OTHER"),
        (PRICE, [], f"{FOUND}Would you like me to book this flight?", "ASK"),
        # How things are is no work of somebody who has only looked.
        ("Is the brake on?", ["displayCarStatus"], "The brake is on. The doors are locked.", "OTHER"),
        ("Lock the doors.", ["lockDoors"], "The brake is on. The doors are locked.", "CONFIRM"),
        ("Is the brake on?", ["displayCarStatus"], "I've locked the doors.", "CONFIRM"),
        ("Is the letter there?", ["ls"], "The letter is now in the folder.", "CONFIRM"),
        # None of what was looked for is an answer; the thing itself that is missing is bad news.
        ("Search the log for budget.", ["grep"], "I couldn't find any lines about it.", "OTHER"),
        ("Search the log for budget.", ["grep"], "No line has it. Would you like me to search other files?", "OTHER"),
        ("Search the log for budget.", ["grep"], "I couldn't find any. Shall I add such a line?", "OTHER"),
        ("Search the log for budget.", ["grep"], "The log does not exist. Shall I create it?", "ASK"),
        ("Delete the lines about budget.", ["grep"], "I couldn't find any lines about it.", "REFUSE"),
        ("Show me the log.", ["cat"], "The log was not found.", "REFUSE"),
        # Who was told something, by a call; and in touch with whom the user wanted to be.
        ("Tell Ann.", ["send_message"], "Ann has been notified.", "CONFIRM"),
        ("Who knows?", ["get_messages"], "Ann has been notified.", "OTHER"),
        ("Get me in touch with them.", ["contact_support"], "I've connected you with our support team.", "CONFIRM"),
        ("Get me a human.", ["transfer_to_human"], "I've connected you with our support team.", "REFUSE"),
    ],
)
def test_the_request_and_the_calls_decide(request_: str, calls: list[str], text: str, expected: str) -> None:
    before = Before().asked(request_).called(calls)
    found = label({"content": text}, "stop", "ok", (), "refined", before)
    assert list(found.flags) == expected.split(), refined.read(text, before)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I cannot send it because no user is logged in. Please provide your name.", "ASK"),
        ("I'm unable to log in with that name. Could you provide another one?", "ASK"),
        ("I cannot send it because letters are not allowed. Which parcel shall I take?", "REFUSE ASK"),
        ("There is no folder of that name. If you meant another one, let me know!", "ASK"),
        ("I've copied the file. If you meant another one, please tell me which.", "CONFIRM"),
        # Advice on what to do elsewhere.
        ("I can't book it. Here are steps you can follow:\n- Verify your budget\n- Visit the shop", "REFUSE"),
        ("I can't find it. You can help me in two ways:\n- Give me your address", "ASK"),
        ("There is no available route to Ulm. Let me check the next airport.", "OTHER"),
        ("There is no available route to Ulm.", "REFUSE"),
        ("You're not logged in. Please log in and I'll send it.", "ASK"),
        ("I have no tool for that. Would you like help with something else?", "REFUSE"),
        ("Your car cannot cover 450 miles without a stop.", "OTHER"),
    ],
)
def test_hindrances_and_advice(text: str, expected: str) -> None:
    check(text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm done with this job.", "CONFIRM"),
        ("The request is done now, and the letter will be going out.", "CONFIRM"),
        ("The request to water the plants in the green house is done, so the answer is empty.", "CONFIRM"),
        ("I am pleased to say that your wish has been fulfilled.", "CONFIRM"),
        ("The volume is now 11.", "CONFIRM"),
        ("I've already informed Ann that it rains.", "CONFIRM"),
        ("The song has been taken off your list.", "CONFIRM"),
        ("The engine has started.", "CONFIRM"),
        ("The post is up.", "CONFIRM"),
        ("Lamp: \u2705 Successfully switched to blue.", "CONFIRM"),
        ("The request was not completed successfully.", "REFUSE"),
        ("The request was cancelled.", "REFUSE"),
        ("Request denied.", "REFUSE"),
        ("Error during printing.", "REFUSE"),
        ("An error occurred, let me try again.", "OTHER"),
        ("The request is not done yet.", "OTHER"),
        ("The request has been accepted.", "OTHER"),
        ("Your request is being processed.", "OTHER"),
        ("I've completed the check of your meter.", "OTHER"),
        ("Roaming enabled: yes", "OTHER"),
        ("It looks like all windows are closed.", "OTHER"),
        ("I see that I now have more tools.", "OTHER"),
    ],
)
def test_a_short_text_is_what_it_says(text: str, expected: str) -> None:
    check(text, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("With nine gallons your car cannot reach the lake.", "OTHER"),
        ("I looked through the folder and didn't find any photo.", "OTHER"),
        ("The order has been cancelled and will no longer be carried out.", "CONFIRM"),
        ("The heater is now on, and its level remains at 4.", "CONFIRM"),
        ("You'll need to visit a tire shop.", "OTHER"),
        ("I can't send it because I don't have her user ID.", "ASK"),
        ("I can't measure that because the town isn't recognized. Which county is it in?", "ASK"),
        ("I've sent it.\n- **Content:** Could you water the plants?", "CONFIRM"),
    ],
)
def test_facts_and_fields_are_no_refusal_and_no_question(text: str, expected: str) -> None:
    check(text, expected)


def test_go_ahead_and_missing_value_in_one_text() -> None:
    text = "The pen goes back for 3 euros. Shall I proceed? Please also give me the card's number."
    assert sub(text) == ["information", "consent"]


@pytest.mark.parametrize(
    "text",
    [
        "Hello! How can I help you today?",
        "What can I do for you?",
        "You're welcome! Is there anything else I can help you with?",
        "The shop opens at nine. Let me know if you need anything more.",
        "The fee is 3 euros. If you have further questions, just ask.",
        "Once you have your number, write to me. Have a nice day!",
        "Why does this happen? Because the disk is full.",
        "Please wait a moment.",
        "Please see the list below.",
        "Please call the bank about it.",
        "The list is sorted by date already. I could also sort it by name if you like.",
        'The file asks: "Which of you will come with me tomorrow?"',
    ],
)
def test_courtesy_and_questions_to_nobody_ask_nothing(text: str) -> None:
    check(text, "OTHER")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Please close the lid before I start the mixer.", "ASK"),
        ("Please unplug the lamp and see if the fuse holds.", "ASK"),
        ("You can do it by hand:\n1. Open the page\n2. Enter the name\n3. Paste the text", "OTHER"),
        ("The flour is used up.\n\n- Can you bake it? No, you'll have to buy some.", "OTHER"),
        ("The fee is 3 euros. Let me know how I can help further.", "OTHER"),
    ],
)
def test_a_step_asked_for_and_advice_on_what_to_do(text: str, expected: str) -> None:
    check(text, expected)


def test_a_closing_takes_nothing_from_what_stands_before_it() -> None:
    check("Please give me the order number, or let me know if you need help finding it.", "ASK")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I've moved the file. Would you like me to rename it as well?", "CONFIRM"),
        ("The file holds three lines. Would you like me to show the second one?", "OTHER"),
        ("The early train is sold out. Would you like me to book the later one instead?", "REFUSE ASK"),
        ("The first one is cancelled.\n\nThe second would cost 5 euros. Shall I cancel it?", "ASK CONFIRM"),
        ("I can't change the name. Is there something else I could try?", "REFUSE"),
        ("The cake takes 40 minutes. Would you like me to check the oven, or help with anything else?", "OTHER"),
        (
            "The cake takes 40 minutes. Would you like me to check the oven? Let me know how you'd like to proceed!",
            "OTHER",
        ),
        ("The lamp is posted. Would you like me to follow the parcel?", "CONFIRM"),
        ("The lamp is posted. Would you like to:\n- send the chair\n- close your account?", "CONFIRM"),
        ("I can't change the name. Let me know how you'd like to proceed.", "REFUSE ASK"),
    ],
)
def test_an_offer_asks_where_the_request_waits_for_it(text: str, expected: str) -> None:
    check(text, expected)


# REFUSE


@pytest.mark.parametrize(
    "text",
    [
        "I have no tool that sends faxes.",
        "Basic fares can't be changed after booking.",
        "I'm afraid that is something only the shop itself can do.",
        "You're not eligible for a refund under this rule.",
        "I can change the date, but not the name.",
        "Sold out; there is one at nine instead.",
        "The file doesn't exist, so I couldn't copy it.",
        "None of my functions can do this.",
        "There isn't a command for it.",
        "We don't ship to islands.",
        "That is against our policy.",
        "This is beyond my abilities.",
        "Refunds are not possible for such tickets.",
        "The tool doesn't support moving folders.",
        "I must decline.",
        "The request failed.",
        "Exchanges can only be made in the shop.",
    ],
)
def test_refuses(text: str) -> None:
    check(text, "REFUSE")


@pytest.mark.parametrize(
    "text",
    [
        "I'm passing you on to a colleague.",
        "YOU ARE BEING TRANSFERRED TO A HUMAN AGENT. PLEASE HOLD ON.",
        "I have transferred you to our support team.",
        "Let me connect you with a specialist.",
    ],
)
def test_hands_over(text: str) -> None:
    check(text, "REFUSE")
    assert sub(text) == ["transfer"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("There are two files named so.", "OTHER"),
        ("The call failed, let me try once more.", "OTHER"),
        ("Note that fares can't be changed later.", "OTHER"),
        ("I can do that after you verify your identity.", "OTHER"),
        ("Your bag is already included.", "OTHER"),
        ("Sorry for the trouble.", "OTHER"),
        ("If you cannot find it, look in the other folder.", "OTHER"),
        ("The pot (currently unavailable) and the pan cost the same.", "REFUSE"),
        ("The pots we have:\n- red, 3 euros\n- unavailable: blue", "OTHER"),
        ("Refunds can only go to your card. Shall I go ahead?", "ASK"),
        ("I can transfer you to a human agent if you like.", "OTHER"),
        ("If that fails, I'll transfer you to a human agent.", "OTHER"),
        ("The oven can't start because its door must be closed first. Would you like me to close it?", "ASK"),
        ("I couldn't move it, as there's no such folder. Shall I create it first?", "ASK"),
        ("I couldn't heat the oven. Would you like me to start the mixer?", "REFUSE ASK"),
        ("The new seat:\n- 12A\n- it cannot be refunded\n\nPlease confirm to proceed.", "ASK"),
        ("No changes are necessary in this recipe.", "OTHER"),
        ("Here are your messages:\n- I'm unable to come.\n- I have sent the parcel.", "OTHER"),
    ],
)
def test_what_ends_no_request_is_no_refusal(text: str, expected: str) -> None:
    check(text, expected)


# CONFIRM


@pytest.mark.parametrize(
    "text",
    [
        "Your booking is cancelled; the refund comes within a week.",
        "Done: both files are in the archive.",
        "I've created the folder and moved the report into it.",
        "The message has been sent.",
        "I moved the file.",
        "You're booked on the 9:40.",
        "Message sent.",
        "The task is complete.",
        "I was able to book the room.",
        "1. Went into the folder\n2. Moved the file into `old`\n3. Listed it",
        "| step | state |\n|---|---|\n| Photos deleted | yes |",
        "As I said, the exchange has been submitted.",
        "The function is done.",
    ],
)
def test_reports_work_as_done(text: str) -> None:
    check(text, "CONFIRM")


@pytest.mark.parametrize(
    "text",
    [
        "I found your order.",
        "I've checked the flight.",
        "I searched the file: one line has the word.",
        "The average is 4.",
        "Thank you, I've verified your identity.",
        "I'll cancel it now.",
        "I'm processing this.",
        "The money will be refunded to your card.",
        "Thank you for confirming.",
        "Your parcel has been delivered.",
        "Nothing has been changed so far.",
        "Once it has been sent, you get a mail.",
        "The order was placed on May 3.",
        "You're all set for the concert!",
        "Lovely, your device is now online.",
        "- Make sure that the switch is turned on",
        "The light has already been repaired.",
        "The log says the copy has been completed.",
    ],
)
def test_finding_out_announcing_and_the_world_confirm_nothing(text: str) -> None:
    check(text, "OTHER")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The first is cancelled. For the second, which card shall I use?", "ASK CONFIRM"),
        ("I've changed the date, but the name can't be changed.", "REFUSE CONFIRM"),
        ("Please confirm that your address is 3 Elm Road.", "ASK"),
        ("Your request has been handed over to a human agent.", "REFUSE"),
    ],
)
def test_classes_beside_each_other(text: str, expected: str) -> None:
    check(text, expected)


SHORT = [
    line.split("|", 1)
    for line in Path(__file__).with_name("short_texts.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize(("expected", "text"), SHORT, ids=lambda part: part[:40])
def test_short_texts(expected: str, text: str) -> None:
    assert sorted(flags(text)) == sorted(expected.split())


# What the reader is not told, and any text


@pytest.mark.parametrize(
    "text",
    [
        "```\nprint('which file do you mean?')\n# I cannot do it\n```",
        "> Can you come?\n> I have cancelled it.",
        "El archivo no existe.",
        "ファイルを移動しました",
        "🎉🎉🎉",
        "...",
        "The page is http://x.y/z?done=cannot",
    ],
)
def test_code_quotations_addresses_and_other_languages_are_other(text: str) -> None:
    check(text, "OTHER")


def test_typography_and_markup_make_no_difference() -> None:
    check("**Unfortunately**, I _can’t_ change\u00a0it.", "REFUSE")
    check("Which **file** do you mean？", "ASK")


def test_lines_that_go_on_are_one_sentence() -> None:
    check("Let me know\nwhich file you mean.", "ASK")
    assert len(sentences("The fee, e.g. for Mr. Ray, is 3.5 euros. It is due.")) == 2


def test_the_words_that_decided() -> None:
    assert refined.read("Sorry, I cannot do it. Which one else do you want?").cues["REFUSE"] == "cannot"
    assert refined.read("I've moved it.").cues["CONFIRM"] == "i've moved"
    assert label({"content": "It isn't possible."}, "stop", "ok", (), "refined").cue == "isn't possible"
    assert label({"content": "The sky is blue."}, "stop", "ok", (), "refined").cue is None


def test_the_scripted_policies() -> None:
    assert [flags(text) for text in (policies.ASK, policies.REFUSE, policies.DONE)] == [
        ["ASK"],
        ["REFUSE"],
        ["CONFIRM"],
    ]


def test_words_beside_a_leaked_call() -> None:
    found = label({"content": 'Which one?\n[cd(folder="I cannot")]'}, "stop", "ok", ("cd",), "refined")
    assert (found.action, found.flags, found.sub) == ("TOOL_CALL", ("TOOL_CALL", "ASK"), ("information",))


def test_the_same_text_has_the_same_label() -> None:
    texts = [item["text"] for item in INVENTED]
    once = [refined.read(text) for text in texts]
    refined._acts.cache_clear()
    assert [refined.read(text) for text in reversed(texts)] == once[::-1]


@pytest.mark.parametrize(
    "piece",
    ["?", "a", "a? ", "*", "_a", "`", "[", '"a', "\n", "|a", ".x", "(", "not isn't ", "if you have been ", "1. ",
     "Would you like to move it? ", "I've moved it. ", "let me know if you need ", "https://", "é", "x\n", "> ",
     "```\n"],
)  # fmt: skip
def test_time_is_linear_in_the_length(piece: str) -> None:
    def seconds(length: int) -> float:
        # A number in it, so that no sentence is read from the cache.
        parts = (f"{piece}{number % 97}{piece}" for number in range(length // (2 * len(piece) + 2)))
        text = "".join(parts)
        refined._acts.cache_clear()
        return cpu(lambda: refined.read(text))

    half = min(seconds(50_000) for _ in range(3))
    linear = 3 * half + 0.02  # twice the length takes twice the time, and four times where time is quadratic
    whole = best_of(lambda: seconds(100_000), min(10.0, linear))
    assert whole < 10.0
    assert whole < linear


def test_a_thousand_emissions() -> None:
    texts = [" ".join(item["text"].replace("the", f"the {number}") for item in INVENTED[number : number + 2])
             for number in range(250)]  # fmt: skip
    characters = sum(map(len, texts))

    def read_all() -> None:
        refined._acts.cache_clear()
        for text in texts:
            refined.read(text)

    # About 0.7 s on a free machine.
    assert best_of(lambda: cpu(read_all) * 600_000 / characters, 4.0) < 4.0


# The invented validity set: wording of many domains, labelled by two readers who agree on these items.


def test_agrees_with_the_readers_on_the_invented_set() -> None:
    counts: Counter[tuple[str, bool, bool]] = Counter()
    for item in INVENTED:
        found = flags(item["text"])
        # A text that is a call is labelled by its words, of which there are none.
        said = [name for name in found if name != "TOOL_CALL"] or ["OTHER"]
        for name in CLASSES:
            counts[name, name in item["labels"], name in said] += 1
    scores = {
        name: 2 * counts[name, True, True]
        / (2 * counts[name, True, True] + counts[name, False, True] + counts[name, True, False])
        for name in CLASSES
    }  # fmt: skip
    assert sum(scores.values()) / len(scores) >= 0.95, scores
    assert min(scores.values()) >= 0.90, scores


# The rule file

GOOD = "version: 2\nwords:\n  no: not, never\nrules:\n  refuse:\n    - any: |\n        {no} now\n"


def test_a_rule_file(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(GOOD.replace("no:", "nay:").replace("{no}", "{nay}"))
    version, rules = load_rules(path, ("refuse",))
    assert version == 2
    assert rules["refuse"][0].found("it is not now", "", False) == "not now"
    assert rules["refuse"][0].found("it is nothing", "", False) is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{nay} now", "(now", r"rules.refuse\[0\].any\[0\]: broken regular expression"),
        ("{nay} now", "{nix} now", r"rules.refuse\[0\].any\[0\]: no word list nix above"),
        ("{nay} now", "Now", r"rules.refuse\[0\].any\[0\]: 'Now' has capitals"),
        ("any:", "all:", r"rules.refuse\[0\]: needs the key any"),
        ("  refuse:", "  refused:", r"rules: refuse is missing, or is no act"),
        ("version: 2", "version: two", r"rules.yaml: version: 'two' is not a whole number"),
        ("version: 2\n", "", r"rules.yaml: needs the keys version, words and rules"),
        ("nay: not, never", "nay: [not]", r"words.nay: needs entries with commas"),
        ("not, never", "[not", r"rules.yaml: not YAML"),
    ],
)
def test_mistakes_in_the_rule_file_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(GOOD.replace("no:", "nay:").replace("{no}", "{nay}").replace(old, new))
    with pytest.raises(RuleError, match=message):
        load_rules(path, ("refuse",))


def test_gates_change_no_label() -> None:
    words = needed("(?:can|could) you|please")
    assert [holds_one(text, words) for text in ("could you", "please", "i will")] == [True, True, False]
    for item in INVENTED:
        for sentence in sentences(item["text"]):
            assert len(sentence.text) <= 2 * MAX_SENTENCE
            for rules in refined.RULES.values():
                for rule in rules:
                    if rule.any.search(sentence.text):
                        assert holds_one(sentence.text, rule.needed), (rule, sentence)
