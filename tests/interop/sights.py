"""What there is to see, in the forms in which servers show it."""

from functools import partial

from exporter.model.verdicts import BackendState, Mechanism, TargetState
from tests.interop.case import Sight

shared = partial(Sight, backend=BackendState.RESUMES, pair=TargetState.CONSISTENT, keys=1)
"""Tickets under one key that both servers have."""

apart = partial(Sight, backend=BackendState.RESUMES, pair=TargetState.SPLIT, keys=2)
"""Tickets under a key for each server."""

ids = partial(Sight, mechanism=Mechanism.STATEFUL, backend=BackendState.STATEFUL, pair=TargetState.STATEFUL)
"""TLS 1.3 tickets that only name a session in the server's memory."""

dead_ids = partial(
    Sight, mechanism=Mechanism.STATEFUL, resumed=0, backend=BackendState.REFUSES, pair=TargetState.BROKEN
)
"""The same, but there is no such memory."""

SESSION_ID = ids(full=0, resumed=0, hint=None)
"""TLS 1.2 without tickets: the session has an id, and the server keeps it."""

NOTHING = Sight(
    mechanism=Mechanism.NO_TICKETS,
    full=0,
    resumed=0,
    hint=None,
    backend=BackendState.NO_TICKETS,
    pair=TargetState.NO_TICKETS,
)
"""Nothing to resume with."""

NOT_SPOKEN = Sight(
    mechanism=Mechanism.UNKNOWN,
    full=0,
    resumed=0,
    hint=None,
    backend=BackendState.NOT_SPOKEN,
    pair=TargetState.UNKNOWN,
)
"""The TLS version is not spoken."""
