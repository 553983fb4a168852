"""The retry rule: once from the checkpoint, then say so."""

import signal

from sandbox.runner.retry import IN_VAIN, RetryRule

KILLED = -signal.SIGKILL


def test_a_run_killed_once_is_tried_again() -> None:
    assert RetryRule().after_death("a", 40, KILLED, paused=False) is None


def test_a_run_killed_twice_at_the_same_step_has_failed_and_says_memory() -> None:
    rule = RetryRule()
    rule.after_death("a", 40, KILLED, paused=False)
    verdict = rule.after_death("a", 40, KILLED, paused=False)
    assert verdict is not None and "step 40" in verdict and "memory" in verdict


def test_a_run_that_gets_further_each_time_is_always_tried_again() -> None:
    rule = RetryRule()
    assert [rule.after_death("a", step, KILLED, paused=False) for step in range(0, 400, 10)] == [None] * 40


def test_deaths_that_get_nowhere_come_to_an_end() -> None:
    rule = RetryRule()
    verdicts = [rule.after_death("a", 100 - n, -signal.SIGSEGV, paused=False) for n in range(IN_VAIN)]
    assert verdicts[:-1] == [None] * (IN_VAIN - 1)
    assert verdicts[-1] is not None and "exit code -11" in verdicts[-1]


def test_a_paused_run_may_be_killed_as_often_as_one_likes() -> None:
    rule = RetryRule()
    assert [rule.after_death("a", 7, KILLED, paused=True) for _ in range(10)] == [None] * 10


def test_runs_are_judged_apart_and_forgotten_when_they_end() -> None:
    rule = RetryRule()
    rule.after_death("a", 40, KILLED, paused=False)
    assert rule.after_death("b", 40, KILLED, paused=False) is None
    rule.forget("a")
    assert rule.after_death("a", 40, KILLED, paused=False) is None
