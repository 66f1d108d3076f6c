"""What the verdicts about known servers say of the prober."""

import pytest

from exporter.model.target import TlsVersion
from exporter.model.verdicts import TargetState, VersionVerdict
from exporter.reference.truth import Truth, check_truth

TLS12, TLS13 = TlsVersion.TLS12, TlsVersion.TLS13
CONSISTENT = VersionVerdict(TargetState.CONSISTENT, judged=2)
SPLIT = VersionVerdict(TargetState.SPLIT, judged=2)
ALL_CONSISTENT = {TLS12: CONSISTENT, TLS13: CONSISTENT}
ALL_SPLIT = {TLS12: SPLIT, TLS13: SPLIT}


@pytest.mark.parametrize(
    ("pair", "control", "reason"),
    [
        pytest.param(ALL_CONSISTENT, ALL_SPLIT, "", id="all as it is"),
        pytest.param(
            ALL_CONSISTENT | {TLS13: SPLIT},
            ALL_SPLIT,
            "pair, TLS 1.3: judged split, is consistent",
            id="a shared key called split",
        ),
        pytest.param(
            ALL_CONSISTENT,
            ALL_SPLIT | {TLS12: CONSISTENT},
            "control, TLS 1.2: judged consistent, is split",
            id="two keys called one",
        ),
        pytest.param(
            ALL_CONSISTENT,
            ALL_SPLIT | {TLS12: VersionVerdict(TargetState.UNKNOWN)},
            "control, TLS 1.2: judged unknown, is split",
            id="not known yet",
        ),
        pytest.param(
            ALL_CONSISTENT | {TLS12: VersionVerdict(TargetState.CONSISTENT, judged=1)},
            ALL_SPLIT,
            "pair, TLS 1.2: judged from 1 of 2 backends",
            id="consistent with itself alone",
        ),
        pytest.param(
            {TLS12: CONSISTENT},
            ALL_SPLIT,
            "pair, TLS 1.3: not judged",
            id="a version was not probed",
        ),
        pytest.param(
            ALL_SPLIT,
            ALL_CONSISTENT,
            "pair, TLS 1.2: judged split, is consistent; control, TLS 1.2: judged consistent, is split; "
            "pair, TLS 1.3: judged split, is consistent; control, TLS 1.3: judged consistent, is split",
            id="everything the wrong way round",
        ),
    ],
)
def test_truth(pair: dict[TlsVersion, VersionVerdict], control: dict[TlsVersion, VersionVerdict], reason: str) -> None:
    """The prober is truthful only if every verdict about a known server is the right one."""
    assert Truth(ok=not reason, reason=reason) == check_truth(pair, control)


def test_truth_of_one_version() -> None:
    """A version that is not among those asked for need not have been judged."""
    assert check_truth({TLS13: CONSISTENT}, {TLS13: SPLIT}, [TLS13]).ok
