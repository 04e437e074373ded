"""A hostile value in the place of one argument of a call that works."""

from __future__ import annotations

import ast


def _call(tree: ast.AST, last: str) -> ast.Call:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == last:
            return node
    raise ValueError(f"no call of {last}: {ast.unparse(tree)}")


def place(source: str, path: str, parameters: list[str], parameter: str) -> str:
    """The source with `H` as one argument of the first call of what the path leads to."""
    tree = ast.parse(source, mode="eval")
    call = _call(tree, path.rpartition(".")[2])
    hostile = ast.Name("H", ast.Load())
    at = parameters.index(parameter) if parameter in parameters else 0
    if at < len(call.args) and not any(isinstance(arg, ast.Starred) for arg in call.args):
        call.args[at] = hostile
    else:
        call.keywords = [keyword for keyword in call.keywords if keyword.arg != parameter]
        call.keywords.append(ast.keyword(parameter, hostile))
    return ast.unparse(ast.fix_missing_locations(tree))
