"""The retry rule: on from the checkpoint, unless the run's own step keeps ending it."""

import signal

import pytest

from sandbox.runner.retry import FORK_SERVER_ENDED, IN_VAIN, LONGEST_REST, SAME_STEP, SETTLED, RetryRule

KILLED = -signal.SIGKILL


def died(rule: RetryRule, step: int, code: int = KILLED, stayed: float = 0.0, run: str = "a") -> str | None:
    return rule.after_death(run, step, code, stayed=stayed, paused=False)


def test_a_run_that_is_killed_at_once_again_and_again_goes_on() -> None:
    rule = RetryRule()
    assert [died(rule, 40) for _ in range(IN_VAIN - 1)] == [None] * (IN_VAIN - 1)


def test_a_run_killed_late_at_the_same_step_has_failed_in_the_end_and_says_memory() -> None:
    rule = RetryRule()
    verdicts = [died(rule, 40, stayed=SETTLED) for _ in range(SAME_STEP)]
    assert SAME_STEP >= 5 and verdicts[:-1] == [None] * (SAME_STEP - 1)
    assert verdicts[-1] is not None and "step 40" in verdicts[-1] and "memory" in verdicts[-1]


def test_a_crash_of_the_trainer_counts_however_early_it_comes() -> None:
    rule = RetryRule()
    verdicts = [died(rule, 40, -signal.SIGSEGV) for _ in range(SAME_STEP)]
    assert verdicts[:-1] == [None] * (SAME_STEP - 1)
    assert verdicts[-1] is not None and "exit code -11" in verdicts[-1]


def test_a_run_that_gets_further_each_time_is_always_tried_again() -> None:
    rule = RetryRule()
    assert [died(rule, step, stayed=SETTLED) for step in range(0, 400, 10)] == [None] * 40


def test_deaths_that_get_nowhere_come_to_an_end() -> None:
    rule = RetryRule()
    verdicts = [died(rule, 100 - n, -signal.SIGSEGV) for n in range(IN_VAIN)]
    assert verdicts[:-1] == [None] * (IN_VAIN - 1)
    assert verdicts[-1] is not None and "exit code -11" in verdicts[-1]


def test_a_paused_run_may_be_killed_as_often_as_one_likes() -> None:
    rule = RetryRule()
    verdicts = [rule.after_death("a", 7, KILLED, stayed=60.0, paused=True) for _ in range(2 * IN_VAIN)]
    assert verdicts == [None] * (2 * IN_VAIN)


def test_deaths_with_the_fork_server_do_not_count() -> None:
    rule = RetryRule()
    assert [died(rule, 7, FORK_SERVER_ENDED, 60.0) for _ in range(2 * IN_VAIN)] == [None] * (2 * IN_VAIN)


def test_runs_are_judged_apart_and_forgotten_when_they_end() -> None:
    rule = RetryRule()
    for _ in range(SAME_STEP - 1):
        died(rule, 40, stayed=SETTLED)
    assert died(rule, 40, stayed=SETTLED, run="b") is None
    rule.forget("a")
    assert died(rule, 40, stayed=SETTLED) is None


def test_a_run_rests_ever_longer_between_deaths_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("sandbox.runner.retry.time.monotonic", lambda: now)
    rule = RetryRule()
    died(rule, 40)
    assert rule.resting() == set()
    rests = []
    for _ in range(8):
        died(rule, 40)
        began = now
        while rule.resting():
            now += 0.125
        rests.append(now - began)
    assert rests[0] < 0.5 and rests == sorted(rests) and rests[-1] == LONGEST_REST
