"""Nodes of graphs by the line that adds them: a line that adds some at every step is in a loop."""

from __future__ import annotations

from collections import Counter

from spillway import tracked

_MOST_LINES = 1024  # of all graphs; what has no place counts for none
NODE_BYTES = 1024  # a node, its names and its handle, about

_seen: dict[int, tuple[int, dict[str, int]]] = {}  # by the graph's serial: nodes, by line
_told: Counter[str] = Counter()


def changed() -> list[tuple[tracked.Key, int]]:
    """Lines that added nodes since this was last asked; of several graphs, the one with most.

    A graph is asked for its lines only when it has more nodes than before.

    >>> class Graph:
    ...     node_count = 0
    ...     def nodes_by_line(self): return {"train.py:7": self.node_count}
    >>> graph = Graph()
    >>> _ = tracked.track("graph", graph, lambda it: 0)
    >>> graph.node_count = 3
    >>> changed()
    [(('node', 'train.py:7', -1), 3)]
    >>> changed()
    []
    """
    if not tracked.any_live("graph") and not _seen:
        return []
    alive = set()
    moved = False
    for each in tracked.live("graph"):
        graph = each.obj
        if graph is None:
            continue
        alive.add(each.serial)
        nodes = graph.node_count
        seen = _seen.get(each.serial)
        if seen is None or nodes != seen[0]:
            moved = True
            _seen[each.serial] = nodes, graph.nodes_by_line()
    if not moved and len(alive) == len(_seen):
        return []
    for gone in _seen.keys() - alive:
        del _seen[gone]
    most: Counter[str] = Counter()
    for _, lines in _seen.values():
        for line, count in lines.items():
            if line in most or len(most) < _MOST_LINES:
                most[line] = max(most[line], count)
    found = [(line, most[line]) for line in most.keys() | _told.keys() if most[line] != _told[line]]
    _told.clear()
    _told.update(most)
    return [(("node", line, -1), count) for line, count in found if line]
