from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from gluebench.leaderboard.apps.benchmarks.policy import Policy, PolicyError, policy_of, read_policy


def test_what_is_left_out_stands_as_the_paper_has_it() -> None:
    policy = policy_of({})
    assert (policy.per_day, policy.feedback, policy.incomplete) == (2, "full", "unranked")


def test_a_policy_goes_through_json_and_toml_unchanged(tmp_path: Path) -> None:
    values = {"per_day": None, "per": "team", "public_share": 0.5, "reveal": "2027-06-30", "approval": True}
    policy = policy_of(values)
    assert policy.reveal == date(2027, 6, 30)
    assert policy_of(policy.as_dict()) == policy
    file = tmp_path / "policy.toml"
    file.write_text('per = "team"\npublic_share = 0.5\nreveal = 2027-06-30\napproval = true\n')
    assert read_policy(file).policy == Policy(
        per="team", public_share=0.5, reveal=date(2027, 6, 30), approval=True
    )


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(PolicyError) as error:
        policy_of({"perday": 2, "per_day": 0, "at_once": True, "window": "week", "reveal": "soon"})
    assert len(error.value.problems) == 5
    assert "known are per_day" in error.value.problems[0]


@pytest.mark.parametrize("values", [{"public_share": 0.5}, {"reveal": "2027-06-30"}])
def test_a_split_needs_a_day_of_reveal(values: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match="belong together"):
        policy_of(values)


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text("per_day: 2\n")
    with pytest.raises(PolicyError, match=r"policy\.toml is not a TOML file"):
        read_policy(file)
