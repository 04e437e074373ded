"""Runs programs in Spillway, in this process or as JSON lines from stdin."""

from __future__ import annotations

import functools
import json
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import cloudpickle

import spillway as sw

from . import functions
from .build import Builder, element
from .outcome import CODES, Reading, run
from .spec import Inner, Leaf, Nest, leaves, of_python, pack, unpack


def _leaf(spec: Any) -> Nest:
    if hasattr(spec, "element_spec"):
        return Inner(of_python(spec.element_spec, _leaf))
    shape = None if spec.shape.rank is None else tuple(spec.shape)
    return Leaf(spec.dtype.name, shape)


def _numpy(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else value


class Spillway:
    """Spillway as a backend: functions are plain Python, their types declared."""

    dataset: Any = sw.Dataset

    def spec(self, ds: Any) -> Nest:
        return of_python(ds.element_spec, _leaf)

    def signature(self, spec: Nest) -> Any:
        return pack(spec, [self._leaf(leaf) for leaf in leaves(spec)])

    def _leaf(self, leaf: Leaf | Inner) -> Any:
        if isinstance(leaf, Inner):
            return sw.DatasetSpec(self.signature(leaf.element))
        return sw.TensorSpec(leaf.shape, leaf.dtype)

    def declare(self, spec: Nest) -> dict[str, Any]:
        return {"output_signature": self.signature(spec)}

    def function(self, desc: functions.Desc, spec: Nest) -> Callable[..., Any]:
        made = functions.signature(desc, spec)

        def call(*args: Any) -> Any:
            flat = [_numpy(leaf) for leaf in unpack(spec, element(spec, args))]
            return pack(made, functions.call(desc, spec, flat))

        return call

    def plain(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def options(self, **settings: Any) -> Any:
        options = sw.Options()
        for path, value in settings.items():
            *groups, name = path.split(".")
            setattr(functools.reduce(getattr, groups, options), name, value)
        return options

    def dtype(self, name: str) -> Any:
        return name


class Exact(Builder):
    """Builds the program without look-ahead that was not asked for."""

    def program(self, program: dict[str, Any], where: str = "") -> Any:
        ds = super().program(program, where)
        if where:
            return ds
        options = sw.Options()
        options.experimental_optimization.apply_default_optimizations = False
        options.autotune.enabled = False
        options.deterministic = True
        return ds.with_options(options)


def classes(error: Exception) -> list[str]:
    """The name of TensorFlow's code, then the Python classes the error can be caught as."""
    names = [kind.__name__ for kind in type(error).__mro__ if kind not in (object, BaseException)]
    if isinstance(error, sw.errors.SpillwayError):
        names.insert(0, CODES[int(error.code)])
    return names


class Audited:
    """A pass whose audit must balance, with nothing held, when it has ended."""

    def __init__(self, ds: Any) -> None:
        self._iterator = iter(ds)

    def __next__(self) -> Any:
        try:
            return next(self._iterator)
        except StopIteration:
            audit = self._iterator.audit()
            if not audit.balanced or audit.held != 0:
                raise AssertionError(f"{audit}\n{audit.stages}") from None
            raise


READING = Reading(
    numpy=_numpy, classes=classes, message=lambda error: str(error)[:1000], open=Audited
)


class Resumed:
    """Passes that are saved after every event and go on in a pipeline built anew."""

    def __init__(self, rebuild: Callable[[], Any]) -> None:
        self._rebuild = rebuild
        self._ds: Any = None
        self._iterator: Any = None

    def open(self, ds: Any) -> Resumed:
        """The next pass: over the pipeline that the last one ended in."""
        self._ds = self._ds or ds
        self._iterator = iter(self._ds)
        return self

    def __next__(self) -> Any:
        try:
            return next(self._iterator)
        finally:
            state = self._iterator.save()
            self._ds = self._rebuild()
            self._iterator = iter(self._ds)
            self._iterator.restore(state)


class AtItsFloor(Audited):
    """A pass with the least limit that its forecast names, beside what is held already."""

    def __init__(self, ds: Any) -> None:
        forecast = ds.forecast()
        if forecast.floor is not None:
            sw.configure(memory_limit=forecast.held + forecast.floor)
        super().__init__(ds)


class Sent(Exact):
    """Sends the program's pipeline through a pickle before it runs."""

    def program(self, program: dict[str, Any], where: str = "") -> Any:
        ds = super().program(program, where)
        return ds if where else pickle.loads(cloudpickle.dumps(ds))


# What a pipeline does must not depend on any of these.
MODES = ("plain", "one_thread", "jitter", "floor", "resume", "ahead", "sent")
# Holds an element of every stage of any recorded program, and little more: 4 KiB a stage, for the
# passes of a program that were not collected yet.
FLOOR = "256KiB"


def outcome(program: dict[str, Any], mode: str = "plain") -> dict[str, Any]:
    """What Spillway does with one program."""
    builder = {"ahead": Builder, "sent": Sent}.get(mode, Exact)(Spillway())
    reading = READING
    if mode == "own_floor":
        reading = replace(READING, open=AtItsFloor)
    if mode == "resume":
        reading = replace(READING, open=Resumed(lambda: builder.again(program)).open)
    settings: dict[str, Any] = {}
    if mode == "one_thread":
        settings["threads"] = 1
    if mode in ("floor", "own_floor"):  # a pass at its own floor sets it
        settings["memory_limit"] = FLOOR
    try:
        with sw.configure(**settings) if settings else nullcontext():
            return run(program, builder, reading)
    finally:
        builder.close()


def main() -> None:
    mode = sys.argv[1] if len(sys.argv) > 1 else "plain"
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            result = outcome(json.loads(line), mode)
        except Exception as error:
            result = {"harness": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(result, separators=(",", ":")) + "\n")
        out.flush()


if __name__ == "__main__":
    main()
