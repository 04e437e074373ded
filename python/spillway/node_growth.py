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
    graphs = {each.serial: each.obj for each in tracked.live("graph")}
    moved = _seen.keys() != graphs.keys()
    for serial, graph in graphs.items():
        nodes = getattr(graph, "node_count", 0)
        if nodes != _seen.get(serial, (0, {}))[0]:
            moved = True
            _seen[serial] = nodes, graph.nodes_by_line()
    if not moved:
        return []
    for gone in _seen.keys() - graphs.keys():
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
