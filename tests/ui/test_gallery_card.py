"""What a run's card says at a glance."""

import pytest

from sandbox.runner.gallery import Entry
from sandbox.store.card import ArmCard, Card
from sandbox.store.labels import Labels
from sandbox.ui.gallery_card import badges


def entry(state: str, *arms: tuple[int, float]) -> Entry:
    made = tuple(
        ArmCard(name=f"arm {i}", reached=reached, metrics={"test_accuracy": last})
        for i, (reached, last) in enumerate(arms)
    )
    card = Card(id="run", target=0.98, plain={"seeds": [1, 2, 3], "steps": 10}, arms=made, state=state)
    return Entry("run", "run", "ann", state, "", 0.0, 10, card, Labels())


@pytest.mark.parametrize(
    ("state", "arms", "expected"),
    [
        (
            "done",
            [(3, 0.99), (3, 0.86)],
            ["every arm reached 98\u00a0% in every seed", "1 arm ended below it"],
        ),
        ("done", [(3, 0.99), (2, 0.7)], ["1 arm reached 98\u00a0% in every seed"]),
        ("done", [(2, 0.9), (0, 0.5)], []),
        ("running", [(3, 0.86)], ["every arm reached 98\u00a0% in every seed"]),
    ],
)
def test_reaching_the_target_and_keeping_it_are_told_apart(
    state: str, arms: list[tuple[int, float]], expected: list[str]
) -> None:
    assert [words for words, _ in badges(entry(state, *arms)) if "step" not in words] == expected
