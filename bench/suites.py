"""The suites of tasks, each with systems that answer them and a benchmark of its name."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import file_tasks, function_tasks, image_data, image_tasks, tasks, worker_tasks

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, eq=False)
class Suite:
    """Tasks, the case a system's function receives, and the package with the systems."""

    name: str
    title: str
    tasks: dict[str, tasks.Task]
    case: type[Any]
    package: str
    prepare: Callable[[], None] | None = None  # makes what all systems read
    processes: bool = False  # memory is asked of all processes together

    def systems(self) -> list[str]:
        """The names of the systems' files."""
        files = (HERE / self.package).glob("*.py")
        return sorted(path.stem for path in files if path.stem != "__init__")

    def constant(self, system: str, name: str, otherwise: object = None) -> object:
        """A constant of a system's file, read without importing the library."""
        for node in self._tree(system).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                value: object = ast.literal_eval(node.value)
                return value
        return otherwise

    def functions(self, system: str) -> list[str]:
        """The task functions of a system's file, read without importing the library."""
        names = [node.name for node in self._tree(system).body if isinstance(node, ast.FunctionDef)]
        return [name for name in names if name.partition("__")[0] in self.tasks]

    def without(self, system: str) -> dict[str, str]:
        """The tasks a system has no answer to, and why."""
        reasons = self.constant(system, "WITHOUT", {})
        assert isinstance(reasons, dict)
        return reasons

    def _tree(self, system: str) -> ast.Module:
        return ast.parse((HERE / self.package / f"{system}.py").read_text())


ENGINE = Suite("engine", "Engine benchmark", tasks.TASKS, tasks.Case, "systems")
FUNCTIONS = Suite(
    "functions",
    "Functions benchmark",
    function_tasks.TASKS,
    function_tasks.FunctionCase,
    "function_systems",
)
FILES = Suite("files", "Files benchmark", file_tasks.TASKS, file_tasks.FileCase, "file_systems")
IMAGES = Suite(
    "images",
    "Images benchmark",
    image_tasks.TASKS,
    image_tasks.ImageCase,
    "image_systems",
    image_data.prepare,
)
WORKERS = Suite(
    "workers",
    "Workers benchmark",
    worker_tasks.TASKS,
    worker_tasks.WorkerCase,
    "worker_systems",
    processes=True,
)
SUITES = {suite.name: suite for suite in (ENGINE, FUNCTIONS, FILES, IMAGES, WORKERS)}
