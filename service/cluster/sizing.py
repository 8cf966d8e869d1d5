"""How many engines a run has, and how many workers each of them. Nothing here knows Ray."""

from collections.abc import Sequence


class NoRoom(Exception):
    """No node has room for an engine. The message says what to change."""


def engines(cpus: Sequence[int], blocks: int, workers: int = 0) -> tuple[int, int]:
    """The workers of an engine, and the number of engines. An engine reserves a CPU for each of its workers.

    With short rows the process of an engine has as much to do as a worker. So an engine for each CPU is fastest. If there
    are fewer blocks than CPUs, engines have more workers, because an engine needs a block.

    Args:
        cpus: Of each node.
        blocks: What is left to judge, at least one.
        workers: As the settings say. 0: this function chooses.

    Raises:
        NoRoom
    """
    nodes = [cpu_count for cpu_count in cpus if cpu_count]
    if not nodes:
        raise NoRoom("no node of the cluster has a CPU for an engine")
    per_engine = workers or max(1, min(min(nodes), sum(nodes) // blocks))
    if per_engine > max(nodes):
        raise NoRoom(
            f"no node of the cluster has {per_engine} CPUs, one for each worker of an engine: set REWARDLINE_WORKERS to at "
            f"most {max(nodes)}"
        )
    return per_engine, min(blocks, sum(cpu_count // per_engine for cpu_count in nodes))
