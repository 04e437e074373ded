"""Graphs, sessions, variables and functions: what `spillway.tf` names, as the engine runs it.

A tensor of a graph is a node without a value. `Session.run` looks up what comes with the call below
the fetches (fed values, variables), has the engine plan what lies between once for each set of
shapes, and runs it as one row under the budget.
"""
