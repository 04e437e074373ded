"""What a function does beside its result happens once an element, however it is written."""

from __future__ import annotations

import os
import pathlib
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

import spillway as sw
from spillway import purity


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """Some of these effects are on the whole process."""
    environment, modules = dict(os.environ), set(sys.modules)
    yield
    sw.set_seed(None)
    os.environ.clear()
    os.environ.update(environment)
    for name in set(sys.modules) - modules:
        if name.startswith("zz_"):
            del sys.modules[name]


IMPORTS = """
import collections, enum, functools, itertools, math, operator, types
import numpy as np
import spillway.tf as tf

class Box:
    def __init__(self):
        self.n, self.items = 0, []
    def _count(self, result=1):
        self.n += 1
        return result
    def __add__(self, other): return self._count(other)
    def __radd__(self, other): return self._count(other)
    def __iadd__(self, other): return self._count(self)
    def __neg__(self): return self._count()
    def __getitem__(self, i): return self._count()
    def __call__(self, x): return self._count(x)
    def __bool__(self): return self._count(True)
    def __len__(self): return self._count()
    def __iter__(self): return self._count(iter([1]))
    def __eq__(self, other): return self._count(True)
    def __contains__(self, other): return self._count(True)
    def __format__(self, spec): return self._count("a")
    def __str__(self): return self._count("a")
    def __float__(self): return self._count(1.0)
    def __index__(self): return self._count(0)
    def __array__(self, *a, **k): return self._count(np.array(1))
    def __enter__(self): self._count()
    def __exit__(self, *a): pass
    def __hash__(self): return 1
    @property
    def read(self): return self._count()
    def bump(self): return self._count()

class Counts(int):
    def __mul__(self, other): log.append(1); return other
log = []
"""
# What is there, what the function does with it, and how often it was done.
EFFECTS = {
    "appends to a captured list": ("s = []", "s.append(1)", "len(s)"),
    "through a dict's item": ("d = {'s': []}", "d['s'].append(1)", "len(d['s'])"),
    "through dict.get": ("d = {'s': []}", "d.get('s').append(1)", "len(d['s'])"),
    "through setdefault": ("d = {}", "d.setdefault('s', []).append(1)", "len(d['s'])"),
    "through nested tuples": ("s = []; t = ((s,),)", "t[0][0].append(1)", "len(s)"),
    "through a new list": ("s = []", "[s][0].append(1)", "len(s)"),
    "through list()": ("s = []", "list([s])[0].append(1)", "len(s)"),
    "through dict()": ("s = []", "dict(a=s)['a'].append(1)", "len(s)"),
    "through a new dict": ("s = []", "h = {'a': s}; h['a'].append(1)", "len(s)"),
    "through a new dict's get": ("s = []", "h = {'a': s}; h.get('a').append(1)", "len(s)"),
    "through a new dict's pop": ("s = []", "h = {'a': s}; h.pop('a').append(1)", "len(s)"),
    "through a list filled later": ("s = []", "h = []; h.append(s); h[0].append(1)", "len(s)"),
    "through an alias filled later": (
        "s = []",
        "h = []; g = h; h.append(s); g[0].append(1)",
        "len(s)",
    ),
    "through an item stored before": (
        "s = []",
        "h = {}; h['k'] = s\nfor v in h.values(): v.append(1)",
        "len(s)",
    ),
    "through unpacking": ("s = []; p = (s, 1)", "a, b = p; a.append(1)", "len(s)"),
    "through starred unpacking": ("s = []; p = (s, 1)", "a, *b = p; a.append(1)", "len(s)"),
    "through a loop": ("s = []; ss = [s]", "for v in ss: v.append(1)", "len(s)"),
    "through enumerate": ("s = []; ss = [s]", "for i, v in enumerate(ss): v.append(1)", "len(s)"),
    "through zip": ("s = []", "for v, i in zip([s], [1]): v.append(1)", "len(s)"),
    "through dict.values": ("s = []; d = {1: s}", "for v in d.values(): v.append(1)", "len(s)"),
    "in a comprehension": ("s = []; ss = [s]", "[v.append(1) for v in ss]", "len(s)"),
    "in a generator expression": ("s = []; ss = [s]", "list(v.append(1) for v in ss)", "len(s)"),
    "through or": ("s = []; t = None", "(t or s).append(1)", "len(s)"),
    "through a conditional": ("s = []; yes = True", "(s if yes else []).append(1)", "len(s)"),
    "through an assignment expression": ("s = []", "(t := s).append(1)", "len(s)"),
    "through match": ("s = []; p = (1, s)", "match p:\n    case (1, t): t.append(1)", "len(s)"),
    "after an exception": (
        "s = []",
        "try: raise ValueError\nexcept ValueError: s.append(1)",
        "len(s)",
    ),
    "in finally": ("s = []", "try: x = x + 1\nfinally: s.append(1)", "len(s)"),
    "a bound method": ("s = []; add = s.append", "add(1)", "len(s)"),
    "a bound method handed on": ("s = []", "list(map(s.append, [1]))", "len(s)"),
    "a lambda as key": ("s = []", "sorted([1], key=lambda v: s.append(1) or v)", "len(s)"),
    "a function as key": (
        "s = []\ndef key(v): s.append(1); return v",
        "sorted([1], key=key)",
        "len(s)",
    ),
    "a helper's argument": ("s = []\ndef put(v): v.append(1)", "put(s)", "len(s)"),
    "a helper's starred argument": ("s = []\ndef put(v): v.append(1)", "put(*[s])", "len(s)"),
    "a helper's named argument": ("s = []\ndef put(v): v.append(1)", "put(v=s)", "len(s)"),
    "an argument inside another": ("s = []\ndef put(v): v[0].append(1)", "put([s])", "len(s)"),
    "a helper that hands back": ("s = []\ndef same(v): return v", "same(s).append(1)", "len(s)"),
    "a helper that fills": (
        "s = []\ndef fill(h): h.append(s)",
        "h = []; fill(h); h[0].append(1)",
        "len(s)",
    ),
    "a helper's default": ("s = []\ndef put(v=s): v.append(1)", "put()", "len(s)"),
    "an inner function's default": ("s = []", "def put(v=s): v.append(1)\nput()", "len(s)"),
    "an inner function": ("s = []", "def put(): s.append(1)\nput()", "len(s)"),
    "an inner function's alias": ("s = []", "t = s\ndef put(): t.append(1)\nput()", "len(s)"),
    "an inner function in a list": ("s = []", "[lambda: s.append(1)][0]()", "len(s)"),
    "a partial": (
        "s = []\ndef put(v, i): v.append(i)\np = functools.partial(put, s)",
        "p(1)",
        "len(s)",
    ),
    "a class body": ("s = []", "class A:\n    s.append(1)", "len(s)"),
    "adds in place to a list": ("s = []", "t = s; t += [1]", "len(s)"),
    "adds in place to an array": ("a = np.zeros(1)", "b = a; b += 1", "int(a[0])"),
    "adds to an item": ("d = {'n': 0}", "d['n'] += 1", "d['n']"),
    "an array's item": ("a = np.zeros(1)", "a[0] += 1", "int(a[0])"),
    "an array's view": ("a = np.zeros(2)", "v = a[:1]; v[0] += 1", "int(a[0])"),
    "an array reshaped": ("a = np.zeros(2)", "v = a.reshape(2, 1); v[0, 0] += 1", "int(a[0])"),
    "np.asarray": ("a = np.zeros(1)", "np.asarray(a)[0] += 1", "int(a[0])"),
    "np.ravel": ("a = np.zeros(1)", "np.ravel(a)[0] += 1", "int(a[0])"),
    "np.frombuffer": ("b = bytearray(8)", "np.frombuffer(b, np.uint8)[0] += 1", "b[0]"),
    "a ufunc's out": ("a = np.zeros(1)", "np.add(a, 1, out=a)", "int(a[0])"),
    "a ufunc's third argument": ("a = np.zeros(1)", "np.add(a, 1, a)", "int(a[0])"),
    "a method's out": (
        "a = np.ones(1); b = np.zeros(1)",
        "b.cumsum(out=b); b[0] += 1",
        "int(b[0])",
    ),
    "np.copyto": ("a = np.zeros(1)", "np.copyto(a, a + 1)", "int(a[0])"),
    "array.put": ("a = np.zeros(1)", "a.put(0, a[0] + 1)", "int(a[0])"),
    "array.fill": ("a = np.zeros(1)", "a.fill(a[0] + 1)", "int(a[0])"),
    "np.frompyfunc": (
        "s = []\nu = np.frompyfunc(lambda v: s.append(1) or v, 1, 1)",
        "u(1)",
        "len(s)",
    ),
    "operator.setitem": ("a = [0]", "operator.setitem(a, 0, a[0] + 1)", "a[0]"),
    "operator.iadd": ("a = []", "operator.iadd(a, [1])", "len(a)"),
    "next": ("it = iter(range(99))", "next(it)", "next(it)"),
    "a for over an iterator": ("it = iter(range(99))", "for _ in it: break", "next(it)"),
    "setattr": ("b = Box()", "setattr(b, 'n', b.n + 1)", "b.n"),
    "vars": ("b = Box()", "vars(b)['n'] = b.n + 1", "b.n"),
    "__dict__": ("b = Box()", "b.__dict__['n'] = b.n + 1", "b.n"),
    "an attribute's list": ("b = Box()", "b.items.append(1)", "len(b.items)"),
    "a method": ("b = Box()", "b.bump()", "b.n"),
    "getattr": ("b = Box()", "getattr(b, 'bump')()", "b.n"),
    "a property": ("b = Box()", "b.read", "b.n"),
    "+ of a class": ("b = Box()", "b + 1", "b.n"),
    "+ on the right": ("b = Box()", "1 + b", "b.n"),
    "+= of a class": ("b = Box()", "c = b; c += 1", "b.n"),
    "- of a class": ("b = Box()", "-b", "b.n"),
    "* of a number's class": ("c = Counts(2)", "c * 2", "len(log)"),
    "[] of a class": ("b = Box()", "b[0]", "b.n"),
    "() of a class": ("b = Box()", "b(x)", "b.n"),
    "truth": ("b = Box()", "if b: pass", "b.n"),
    "not": ("b = Box()", "not b", "b.n"),
    "len": ("b = Box()", "len(b)", "b.n"),
    "iteration": ("b = Box()", "for _ in b: pass", "b.n"),
    "== of a class": ("b = Box()", "b == 1", "b.n"),
    "== inside lists": ("b = Box(); c = [b]", "c == [2]", "b.n"),
    "in": ("b = Box()", "1 in b", "b.n"),
    "in a list of them": ("b = Box(); c = [b]", "3 in c", "b.n"),
    "an f-string": ("b = Box()", "f'{b}'", "b.n"),
    "str": ("b = Box()", "str(b)", "b.n"),
    "%": ("b = Box()", "'%s' % b", "b.n"),
    "format": ("b = Box()", "'{}'.format(b)", "b.n"),
    "join": ("b = Box()", "''.join(map(str, [b]))", "b.n"),
    "float": ("b = Box()", "float(b)", "b.n"),
    "an index": ("b = Box(); a = [1]", "a[b]", "b.n"),
    "np.asarray of a class": ("b = Box()", "np.asarray(b)", "b.n"),
    "a default dict": ("d = collections.defaultdict(list)", "d[len(d)]", "len(d)"),
    "a deque": ("d = collections.deque()", "d.append(1)", "len(d)"),
    "a with": ("b = Box()", "with b: pass", "b.n"),
    "an exception's class": (
        "s = []\nclass E(Exception):\n    def __init__(self): s.append(1)",
        "try: raise E\nexcept E: pass",
        "len(s)",
    ),
    "an exception that is made": (
        "s = []\nclass E(Exception):\n    def __init__(self): s.append(1)",
        "E()",
        "len(s)",
    ),
}


CASES = pathlib.Path(__file__).parent / "purity"


def table(file: str) -> Any:
    """One case a line: its name and its parts."""
    lines = (CASES / file).read_text().splitlines()
    rows = [
        [part.encode().decode("unicode_escape") for part in line.split(" || ")] for line in lines
    ]
    return {name: tuple(parts) for name, *parts in rows}


EFFECTS |= table("effects.txt")
MORE = (CASES / "effects_setup.txt").read_text()


def build(setup: str, body: str, result: str = "x") -> Any:
    """The function, with what it uses captured from around it."""
    inner = textwrap.indent(
        f"def f(x):\n{textwrap.indent(body, '    ')}\n    return {result}", "    "
    )
    text = f"{IMPORTS}\n{MORE}\ndef outer(count):\n{textwrap.indent(setup, '    ')}\n{inner}\n"
    return text


def made(setup: str, body: str, count: str) -> Any:
    text = build(setup, body) + f"    return f, lambda: {count}\n"
    names: dict[str, Any] = {}
    exec(compile(text, "<effects>", "exec"), names)
    return names["outer"](0)


@pytest.mark.parametrize("name", EFFECTS)
def test_an_effect_happens_once_an_element_and_not_before(name: str) -> None:
    function, count = made(*EFFECTS[name])
    ds = sw.Dataset.range(5).map(function)
    assert purity.effect(function) is not None
    assert len(list(ds)) == 5
    assert count() == 5


def test_defaults_and_partials_of_the_function_itself_are_outside() -> None:
    import functools

    seen: list[int] = []

    def by_default(x: Any, keep: list[int] = seen) -> Any:
        keep.append(1)
        return x

    def by_keyword(x: Any, *, keep: list[int] = seen) -> Any:
        keep.append(1)
        return x

    def first(keep: list[int], x: Any) -> Any:
        keep.append(1)
        return x

    for function in (
        by_default,
        by_keyword,
        functools.partial(first, seen),
        functools.partial(by_default, keep=seen),
    ):
        seen.clear()
        assert len(list(sw.Dataset.range(5).map(function))) == 5
        assert len(seen) == 5


PURE_SETUP = """
scales = [1, 2, 3]
config = {"rate": 0.5, "dims": (2, 3), "names": ["a", "b"]}
weights = np.ones((3, 3), np.float32)
Pair = collections.namedtuple("Pair", "a b")
class Mode(enum.Enum):
    TRAIN = 1
class Model:
    scale = 2
    def __init__(self): self.layers, self.flag = [2, 3], True
    def __call__(self, x):
        for layer in self.layers: x = x * layer
        return x + 1 if self.flag else x
    @property
    def half(self): return 2
    @staticmethod
    def static(x): return x * 2
    @classmethod
    def of_class(cls, x): return x * cls.scale
model = Model()
def helper(x, by=2, *rest, k=1, **named): return x * by + k
double = functools.partial(helper, by=4)
"""
PURE = {
    "a captured dict": ("pass", "x * config['dims'][0]"),
    "a comprehension": ("pass", "[x * i for i in range(3)]"),
    "nested comprehensions": ("pass", "[[x * i * j for i in range(2)] for j in range(2)]"),
    "a dict comprehension": ("pass", "{k: x * v for k, v in zip(config['names'], scales)}"),
    "a generator expression": ("pass", "sum(x * i for i in scales)"),
    "a callable object": ("pass", "model(x)"),
    "a property": ("pass", "x * model.half"),
    "static and class methods": ("pass", "Model.static(x) + model.of_class(x)"),
    "getattr": ("pass", "x * getattr(model, 'scale') + getattr(model, 'none', 1)"),
    "a helper and its defaults": ("pass", "helper(x, 3, k=2) + helper(x) + helper(*[x, 2])"),
    "a partial": ("pass", "double(x)"),
    "a named tuple": ("pass", "Pair(x, b=x * 2)"),
    "an enum": ("pass", "x * Mode.TRAIN.value if Mode.TRAIN is Mode.TRAIN else x"),
    "a conditional": ("pass", "x if config['rate'] > 0.1 else -x"),
    "a list that is filled": ("out = []\nfor s in scales: out.append(x * s)", "tf.stack(out)"),
    "a dict that is filled": (
        "d = {}\nfor k in config['names']: d[k] = x\nd.update(c=x); d['z'] = d.pop('c')",
        "d",
    ),
    "in place on its own": ("y = x * 0\nfor s in scales: y += x * s", "y"),
    "an array of its own": ("z = np.zeros(3, np.int64); z[1] = 2", "x * z[1]"),
    "an inner function": ("def g(y): return y * 2 + x", "g(x)"),
    "functions in a list": ("pass", "tf.case([(x > 1, lambda: x)], default=lambda: x * 2)"),
    "try": ("try: y = x * scales[0]\nexcept IndexError: y = x", "y"),
    "an assertion": ("assert x.dtype is not None, f'bad {config}'", "x"),
    "while": ("i = 0\nwhile i < 3:\n    x = x + 1; i += 1", "x"),
    "NumPy": ("pass", "np.sin(x) + weights[0, 0]"),
    "math and operator": ("pass", "operator.mul(x, 2) + int(math.sqrt(4.0))"),
}


def returning(setup: str, body: str, result: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(build(setup, body, result) + "    return f\n", "<pure>", "exec"), names)
    return names["outer"](0)


ALL_PURE = {name: (PURE_SETUP, *case) for name, case in PURE.items()} | {
    f"{name} in practice": ((CASES / "pure_setup.txt").read_text(), *case)
    for name, case in table("pure.txt").items()
}


@pytest.mark.parametrize("name", ALL_PURE)
def test_what_has_no_effects_is_traced(name: str) -> None:
    function = returning(*ALL_PURE[name])
    assert purity.effect(function) is None
    ds = sw.Dataset.range(4).map(function)
    assert ds.explain().stages[-1]["functions"][0]["native"]


@pytest.mark.parametrize("result", ["p", "(x, p)", "{'a': p}", "[p]"])
def test_what_is_returned_is_not_asked_before_it_runs(result: str) -> None:
    assert purity.effect(returning("p = Sneaky()", "pass", result)) is not None


HOSTILE = """
class Meta(type):
    def __getattribute__(cls, name): log.append(1); return type.__getattribute__(cls, name)
    def __eq__(cls, other): log.append(1); return cls is other
    def __hash__(cls): log.append(1); return 1
    def __instancecheck__(cls, other): log.append(1); return False
class Hostile(metaclass=Meta):
    def __getattribute__(self, name): log.append(1); return object.__getattribute__(self, name)
    def __eq__(self, other): log.append(1); return False
    def __hash__(self): log.append(1); return 1
    def __bool__(self): log.append(1); return True
    def __call__(self, x): return x
    @property
    def __class__(self): log.append(1); return int
    @property
    def __dict__(self): log.append(1); return {}
h = Hostile(); d = {1: 2, h: 3}; t = (h,); log.clear()
"""


USES = """h|h + 1|h.a|Hostile.a|h == 1|d[1]|d.get(h)|[h]|{h}|f"{h}"|len(h)|isinstance(h, int)|h(x)
    |isinstance(x, Hostile)|Hostile()|type(h)|getattr(h, "a", 1)|hasattr(h, "a")|map(h, [1])|h in t
    |[a for a in t]|t[0]|h if x else t|h and x|not h|callable(h)|h is None|Hostile[1]"""


@pytest.mark.parametrize("result", USES.split("|"))
def test_looking_at_a_function_runs_nothing_of_the_users(result: str) -> None:
    function = returning(HOSTILE, "pass", result.strip())
    log = function.__globals__["log"]
    before = len(log)
    purity.effect(function)
    assert len(log) == before


def test_strange_functions_are_refused_in_no_time() -> None:
    import functools

    names: dict[str, Any] = {}
    lines = "".join(f"    try: y{i} = x * {i}\n    except KeyError: pass\n" for i in range(1000))
    exec(f"def long(x):\n{lines}    return x\n", names)
    exec("def many(x): return many(x.a) + many(x.b) + many(x.c) + many(x.d)", names)
    bound: Any = names["many"]
    for _ in range(3000):
        bound = type(names["many"].__get__(1))(bound, 1)
    loop = functools.partial(max)
    loop.__setstate__((loop, (), {}, {}))  # type: ignore[attr-defined]
    cyclic: list[Any] = []
    cyclic.extend([cyclic] * 1000)
    for function in (names["many"], bound, lambda x: bound(x), loop, lambda x: loop(x), len, None):
        purity.effect(function)
    assert purity.effect(lambda x: [*cyclic, x]) is not None
    purity.effect(names["long"])
