"""Full passes of the garbage collector, which hold the event loop for as long as there are objects to look at."""

import gc


def leave_out_what_stays() -> None:
    """Leave all that is there now, modules above all, out of every later pass: it lives as long as we do."""
    gc.collect()
    gc.freeze()
