"""Which closings of a simulated user leave the agent's question open."""

from __future__ import annotations

import pytest

from toolcal.benchmarks.tau2.user_closings import leaves_open

SCENARIO = "You are Ada Moor. Your user id is ada_moor_4120."
CONSENT = "I will cancel reservation K7QD2M and refund 210 dollars. Do you want me to proceed?"
ASKS = "I can help with that. Could you please provide your user ID?"
REFUSAL = "Unfortunately I cannot refund a basic economy ticket. Would you like me to transfer you to a human agent?"
DONE = "Your reservation K7QD2M has been cancelled. If there is anything else, feel free to ask!"


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        (CONSENT, ""),
        (CONSENT, "Thank you so much for your help! Have a great day!"),
        (CONSENT, "Yes, please. That's all I needed."),
        (CONSENT, "I see. Go ahead then."),
        (CONSENT, "Sounds good, thanks!"),
        (CONSENT, "Can you tell me first how long the refund takes?"),
        (CONSENT, "No problem, go ahead."),
        (REFUSAL, "Yes, I'd like that. Thank you."),
        (REFUSAL, "I understand. Please transfer me."),
        (REFUSAL, "Is there anyone else I can talk to?"),
        (ASKS, ""),
        (ASKS, "Thanks!"),
        (ASKS, "Sure, it is ada_moor_4120."),
    ],
)
def test_a_closing_that_leaves_the_question_open(heard, said):
    assert leaves_open(heard, said, SCENARIO, ["I want to cancel K7QD2M."])


@pytest.mark.parametrize(
    ("heard", "said"),
    [
        (DONE, ""),
        (DONE, "Yes, great, thanks. That's all I needed."),
        (CONSENT, "No, thank you."),
        (CONSENT, "No, that's fine. Thanks for your help."),
        (CONSENT, "I don't want that. Thanks anyway."),
        (CONSENT, "I'll need to think about it and get back to you."),
        (CONSENT, "Then I can't move forward. If something changes, please let me know."),
        (CONSENT, "That's all for now, thank you."),
        (CONSENT, "Never mind."),
        (REFUSAL, ""),
        (REFUSAL, "Thank you for explaining. Have a nice day!"),
        (REFUSAL, "That's a pity. I'll keep my ticket as it is."),
        (ASKS, "I'll have to look for it. Thanks for your help."),
        ("Which seat would you like?", ""),
        ("There are no flights that day. Which other day would suit you?", "Oh no, that's surprising. Goodbye."),
    ],
)
def test_a_closing_that_does_not(heard, said):
    assert not leaves_open(heard, said, SCENARIO, ["I want to cancel K7QD2M."])


def test_a_value_that_was_given_before_is_not_open():
    before = ["I want to cancel K7QD2M.", "I am ada_moor_4120."]
    assert not leaves_open(ASKS, "", SCENARIO, before)
    assert not leaves_open(ASKS, "I told you: ada_moor_4120.", SCENARIO, before)
