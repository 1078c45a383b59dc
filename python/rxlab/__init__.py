"""rxlab predicts, for a server and a traffic, which receive interface of a network card carries it, and why packets drop.

Each function is a command of the program `rxlab`, with the same options as keyword arguments. What comes back is an
object with what `--json` writes; `.to_pandas()`, `.to_polars()` and `.plot()` make tables and figures of it.

    import rxlab
    found = rxlab.compare(interfaces=["privring", "rxbisect"], rate=150, placements=1)
    print(found.verdict.headline)
    found.plot()

Loads of results are Gbps of frames without FCS, preamble and gap; `rate` is Gbps on the wire.
"""

from rxlab import results
from rxlab._native import __version__, schema
from rxlab.call import ConditionMet, RxlabError, RxlabWarning, command_line, run
from rxlab.commands import *  # noqa: F403
from rxlab.commands import __all__ as _commands
from rxlab.result import Result, Results
from rxlab.sweeps import Sweep, sweep

__all__ = [
    "ConditionMet", "Result", "Results", "RxlabError", "RxlabWarning", "Sweep", "__version__", "command_line",
    "results", "run", "schema", "sweep", *_commands,
]
