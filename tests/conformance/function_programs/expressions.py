"""Random expressions of tensors, with what is known of their type while they are written."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

Dims = tuple[int | None, ...]


@dataclass(frozen=True)
class Term:
    """A piece of source text and the tensor it stands for."""

    text: str
    dtype: str
    shape: Dims
    exact: bool = True  # the same to the last bit in both engines: may be compared and truncated
    size: float = 10.0  # a bound of its numbers, so that integers do not run away

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def number(self) -> bool:
        return self.dtype not in ("bool", "string")

    @property
    def floating(self) -> bool:
        return "float" in self.dtype


INTS = ("int32", "int64", "uint8", "int8")
SMALL = {"uint8": 255.0, "int8": 127.0}


class Writer:
    """Writes expressions over some named tensors."""

    def __init__(self, rng: random.Random, names: Sequence[Term], numpy: bool) -> None:
        self.rng = rng
        self.names = list(names)
        self.numpy = numpy
        self.helpers: list[str] = []
        self.used_numpy = False

    def chance(self, of_one: float) -> bool:
        return self.rng.random() < of_one

    def choice(self, options: Sequence[Any]) -> Any:
        return self.rng.choice(options)

    def term(self, depth: int, wanted: Callable[[Term], bool] = lambda _: True) -> Term:
        """Any expression that is wanted; a name where none is found."""
        for _ in range(12):
            made = self._any(depth)
            if made is not None and wanted(made) and len(made.text) < 400:
                return made
        fitting = [term for term in self.names if wanted(term)]
        if fitting:
            return self.rng.choice(fitting)
        literal = Term("tf.constant([1.5, -2.0, 3.0])", "float32", (3,))
        return literal if wanted(literal) else Term("tf.constant(True)", "bool", ())

    def _any(self, depth: int) -> Term | None:
        if depth <= 0 or self.chance(0.15):
            return self.rng.choice(self.names)
        base = self.term(depth - 1)
        if self.chance(0.25):
            return self.moved(base)
        if self.chance(0.3):
            found = self.other(base)
            if found is not None:
                return found
        if base.dtype == "string":
            return self.text(base)
        if base.dtype == "bool":
            return self.truth(base, depth)
        return self.arithmetic(base, depth)

    # ---- numbers

    def literal(self, dtype: str) -> str:
        if "float" in dtype:
            return str(self.choice(("2", "0.5", "-1.5", "3.0", "K", "1e-2", "np.float32(0.25)")))
        return str(self.choice(("2", "3", "1", "K", "5")))

    def arithmetic(self, x: Term, depth: int) -> Term | None:
        roll = self.rng.random()
        if roll < 0.3:
            return self.binary(x, depth)
        if roll < 0.42:
            return self.compare(x, depth)
        if roll < 0.54:
            return self.reduce(x)
        if roll < 0.62:
            return self.cast(x)
        if roll < 0.72 and x.floating:
            return self.smooth(x)
        if roll < 0.80:
            return self.helper(x)
        if roll < 0.86 and self.numpy:
            return self.ufunc(x)
        if roll < 0.9 and x.exact and not x.floating:
            return Term(f"tf.strings.as_string({x.text})", "string", x.shape)
        if roll < 0.93:
            low, high = self.choice((("0", "3"), ("-1", "2"), ("1", "5")))
            return replace(x, text=f"tf.clip_by_value({x.text}, {low}, {high})", size=5)
        function = self.choice(("tf.abs", "abs", "-", "tf.square", "tf.negative", "tf.sign",
                                "tf.zeros_like", "tf.ones_like", "tf.identity"))  # fmt: skip
        if x.dtype == "uint8" and function in ("-", "tf.negative", "tf.sign", "abs", "tf.abs"):
            return None
        size = x.size**2 if function == "tf.square" else x.size
        return self.bounded(replace(x, text=f"{function}({x.text})", size=size))

    def bounded(self, term: Term) -> Term | None:
        return term if term.size < 1e8 else None

    def binary(self, x: Term, depth: int) -> Term | None:
        sign = self.choice(("+", "-", "*", "+", "-", "*", "/", "//", "%"))
        if sign in ("/", "//", "%"):
            divisor = self.choice(("2", "3", "4")) if x.number else "2"
            if sign == "/":
                dtype = x.dtype if x.floating else "float64"
                if x.dtype in ("uint8", "int8"):
                    dtype = "float32"
                return replace(x, text=f"({x.text} / {divisor})", dtype=dtype)
            if not x.exact:
                return None
            return replace(x, text=f"({x.text} {sign} {divisor})")
        size = x.size * 10
        if self.chance(0.5):
            other = self.literal(x.dtype)
            text = f"{x.text} {sign} {other}" if self.chance(0.6) else f"{other} {sign} {x.text}"
            return self.bounded(replace(x, text=f"({text})", size=size))
        y = self.term(depth - 1, lambda t: t.dtype == x.dtype)
        if y.dtype != x.dtype:
            return None
        shape = broadcast(x.shape, y.shape)
        if shape is None:
            return None
        size = max(x.size, 1) * max(y.size, 1)
        exact = x.exact and y.exact
        name = {"+": "tf.add", "-": "tf.subtract", "*": "tf.multiply"}[sign]
        text = f"({x.text} {sign} {y.text})"
        if self.chance(0.3):
            name = self.choice((name, "tf.maximum", "tf.minimum", "tf.math.squared_difference"))
            if name.endswith("difference") and x.dtype in ("uint8", "int8"):
                return None
            text = f"{name}({x.text}, {y.text})"
            size = size**2 if name.endswith("difference") else size
        return self.bounded(Term(text, x.dtype, shape, exact, size))

    def compare(self, x: Term, depth: int) -> Term | None:
        if not x.exact:
            return None
        sign = self.choice(("<", "<=", ">", ">=", "==", "!="))
        return Term(f"({x.text} {sign} {self.literal(x.dtype)})", "bool", x.shape)

    def reduce(self, x: Term) -> Term | None:
        name = self.choice(("sum", "max", "min", "mean", "sum", "prod"))
        exact = x.exact and (not x.floating or name in ("max", "min"))
        if name == "mean" and not x.floating:
            name = "sum"
        if name == "prod" and x.size > 10:
            return None
        size = x.size * 16 if name == "sum" else x.size**6 if name == "prod" else x.size
        if 0 in x.shape or x.dtype in SMALL:
            return None
        if x.rank and self.chance(0.5):
            axis = self.rng.randrange(-x.rank, x.rank)
            keep = self.chance(0.2)
            at = axis % x.rank
            shape = tuple(1 if i == at else d for i, d in enumerate(x.shape) if keep or i != at)
            more = ", keepdims=True" if keep else ""
            text = f"tf.reduce_{name}({x.text}, axis={axis}{more})"
        else:
            text, shape = f"tf.reduce_{name}({x.text})", ()
        return self.bounded(Term(text, x.dtype, shape, exact, size))

    def cast(self, x: Term) -> Term | None:
        target = self.choice(("float32", "float64", "int32", "int64", "bool"))
        if not x.exact and "float" not in target:
            return None
        spelled = self.choice((f"tf.{target}", f"'{target}'"))
        return replace(x, text=f"tf.cast({x.text}, {spelled})", dtype=target)

    def smooth(self, x: Term) -> Term | None:
        if self.chance(0.3) and x.exact:
            name = self.choice(("tf.floor", "tf.round", "tf.math.ceil"))
            return replace(x, text=f"{name}({x.text})")
        name = self.choice(("tf.sin", "tf.cos", "tf.tanh", "tf.sigmoid", "tf.math.erf"))
        if self.chance(0.3):
            return Term(f"tf.sqrt(tf.abs({x.text}))", x.dtype, x.shape, False, x.size)
        if self.chance(0.2):
            return Term(f"tf.math.log1p(tf.abs({x.text}))", x.dtype, x.shape, False, x.size)
        return Term(f"{name}({x.text})", x.dtype, x.shape, False, 2)

    def ufunc(self, x: Term) -> Term | None:
        self.used_numpy = True
        name = self.choice(("square", "abs", "negative", "add", "multiply", "maximum"))
        if x.dtype in SMALL:
            return None
        if name in ("add", "multiply", "maximum"):
            return self.bounded(
                replace(x, text=f"np.{name}({x.text}, {self.choice((2, 3))})", size=x.size * 3)
            )
        size = x.size**2 if name == "square" else x.size
        return self.bounded(replace(x, text=f"np.{name}({x.text})", size=size))

    def helper(self, x: Term) -> Term | None:
        """A function of its own, or a comprehension or a loop in one."""
        name = f"h{len(self.helpers)}"
        if x.size > 1e4 or x.dtype in SMALL:
            return None
        size = x.size * 40
        kind = self.rng.randrange(7)
        if kind == 0:
            self.helpers.append(f"def {name}(v, k=2):\n    return v * k + v\n")
            text = f"{name}({x.text}{self.choice(('', ', 3', ', k=4'))})"
        elif kind == 1:
            self.helpers.append(f"{name} = lambda v: v - 1\n")
            text = f"{name}({name}({x.text}))"
        elif kind == 2:
            body = "    for i in range(3):\n        v = v + i\n    return v\n"
            self.helpers.append(f"def {name}(v):\n{body}")
            text = f"{name}({x.text})"
        elif kind == 3:
            body = (
                "    total, n = v, 0\n    while n < 3:\n        n += 1\n        total = total + v\n"
            )
            self.helpers.append(f"def {name}(v):\n{body}    return total\n")
            text = f"{name}({x.text})"
        elif kind == 4:
            text = f"sum([{x.text} * i for i in range(1, 4)])"
        elif kind == 5:
            body = "    if K > 2:\n        return v + K\n    return v - K\n"
            self.helpers.append(f"def {name}(v):\n{body}")
            text = f"{name}({x.text})"
        else:
            body = "    def inner(w):\n        return w + v\n    return inner(v * 2)\n"
            self.helpers.append(f"def {name}(v):\n{body}")
            text = f"{name}({x.text})"
        return self.bounded(replace(x, text=text, size=size))

    # ---- truth and text

    def truth(self, x: Term, depth: int) -> Term | None:
        roll = self.rng.random()
        if roll < 0.2:
            name = self.choice(("tf.logical_not", "~"))
            return replace(x, text=f"{name}({x.text})")
        if roll < 0.4:
            return Term(f"tf.reduce_{self.choice(('all', 'any'))}({x.text})", "bool", ())
        if roll < 0.6:
            y = self.term(depth - 1, lambda t: t.dtype == "bool")
            shape = broadcast(x.shape, y.shape)
            if y.dtype != "bool" or shape is None:
                return None
            return Term(f"({x.text} {self.choice('&|^')} {y.text})", "bool", shape)
        if roll < 0.85:
            a = self.term(depth - 1, lambda t: t.number)
            shape = broadcast(x.shape, a.shape)
            if shape is None:
                return None
            other = self.choice((f"tf.zeros_like({a.text})", f"{a.text} + {a.text}"))
            if a.dtype in SMALL or not a.number:
                return None
            return replace(a, text=f"tf.where({x.text}, {a.text}, {other})", shape=shape,
                           size=a.size * 2)  # fmt: skip
        return Term(f"tf.cast({x.text}, tf.int32)", "int32", x.shape, True, 1)

    def text(self, x: Term) -> Term | None:
        s = x.text
        plain = ("tf.strings.upper({})", "tf.strings.lower({})", "tf.strings.strip({})",
                 "({} + 'z')", "('q' + {})", "tf.strings.join([{}, 'w'], separator='-')",
                 "tf.strings.substr({}, 0, 1)",
                 "tf.strings.regex_replace({}, '[ab]', '_')")  # fmt: skip
        numbers = ("tf.strings.length({})", "tf.strings.to_hash_bucket_fast({}, 10)")
        roll = self.rng.random()
        if roll < 0.6:
            form = self.choice(plain)
            if "substr" in form:
                s = f"tf.strings.join(['p', {s}])"
            return replace(x, text=form.format(s))
        if roll < 0.8:
            form = self.choice(numbers)
            dtype = "int64" if "hash" in form else "int32"
            return Term(form.format(s), dtype, x.shape)
        if roll < 0.9:
            return Term(f"({s} {self.choice(('==', '!='))} 'a')", "bool", x.shape)
        if x.rank == 0:
            return Term(f"tf.strings.split({s} + ',b', ',')", "string", (None,))
        return Term(f"tf.strings.reduce_join({s})", "string", ())

    # ---- ops by their form

    def other(self, x: Term) -> Term | None:
        """One of the forms that take such a tensor."""
        found = [form for form in FORMS if form.takes(x)]
        return self.choice(found).of(x) if found else None

    # ---- shapes

    def moved(self, x: Term) -> Term | None:
        roll = self.rng.randrange(16)
        first = x.shape[0] if x.rank else None
        if roll == 0:
            return replace(x, text=f"tf.expand_dims({x.text}, 0)", shape=(1, *x.shape))
        if roll == 1 and x.rank:
            return replace(x, text=f"{x.text}[..., tf.newaxis]", shape=(*x.shape, 1))
        if roll in (2, 3) and x.rank and first:
            index = self.rng.randrange(-first, first)
            return replace(x, text=f"{x.text}[{index}]", shape=x.shape[1:])
        if roll == 4 and x.rank and first is not None:
            start = self.choice(("::2", "1:", ":-1", "::-1", ":2", "0:1"))
            length = len(range(first)[slice(*[int(p) if p else None for p in start.split(":")])])
            return replace(x, text=f"{x.text}[{start}]", shape=(length, *x.shape[1:]))
        if roll == 5 and x.rank > 1 and x.shape[1]:
            return replace(x, text=f"{x.text}[:, 0]", shape=(x.shape[0], *x.shape[2:]))
        if roll == 6:
            total = 1
            for dim in x.shape:
                total = total * dim if dim is not None else -(10**6)
            return replace(
                x,
                text=f"tf.reshape({x.text}, [-1])",
                shape=(max(total, -1) if total >= 0 else None,),
            )
        if roll == 7 and x.rank < 3:
            text = self.choice(
                (f"tf.stack([{x.text}, {x.text}])", f"tf.stack([{x.text} for _ in range(2)])")
            )
            return replace(x, text=text, shape=(2, *x.shape))
        if roll == 8 and x.rank:
            doubled = None if first is None else first * 2
            return replace(
                x, text=f"tf.concat([{x.text}, {x.text}], 0)", shape=(doubled, *x.shape[1:])
            )
        if roll == 9 and x.rank == 2:
            return replace(x, text=f"tf.transpose({x.text})", shape=(x.shape[1], x.shape[0]))
        if roll == 10:
            name = self.choice(("tf.shape", "tf.size", "tf.rank"))
            shape: Dims = (x.rank,) if name == "tf.shape" else ()
            return Term(f"{name}({x.text})", "int32", shape)
        if roll == 11 and x.rank and x.number and None not in x.shape:
            self_text = f"{x.text} * {x.text}.shape[0]"
            if x.dtype in SMALL:
                return None
            return self.bounded(replace(x, text=f"({self_text})", size=x.size * 5))
        if roll == 12 and x.rank == 1 and first:
            return replace(x, text=f"tf.gather({x.text}, [0, {first - 1}])", shape=(2,))
        if roll == 13 and x.rank == 1:
            return replace(
                x, text=f"tf.pad({x.text}, [[1, 0]])", shape=(None if first is None else first + 1,)
            )
        if roll == 14 and x.rank == 1 and x.number and x.exact and first != 0:
            return replace(x, text=f"tf.sort({x.text})")
        if roll == 15 and x.rank == 1:
            return replace(
                x, text=f"tf.tile({x.text}, [2])", shape=(None if first is None else first * 2,)
            )
        return None


@dataclass(frozen=True)
class Form:
    """A text around an expression `@`, and what becomes of its type."""

    takes: Callable[[Term], bool]
    text: str
    dtype: str = ""  # as before
    shape: Callable[[Term], Dims] = lambda x: x.shape
    exact: bool = True
    size: float = 0.0

    def of(self, x: Term) -> Term:
        dtype = self.dtype or x.dtype
        exact = x.exact and (self.exact or not x.floating)
        return Term(
            self.text.replace("@", x.text), dtype, self.shape(x), exact, self.size or x.size
        )


def _vector(x: Term) -> bool:
    return x.rank == 1 and bool(x.shape[0])


def _numbers(x: Term) -> bool:
    return _vector(x) and x.number and x.dtype not in SMALL and x.size < 1e6


def _steady(x: Term) -> bool:
    return x.number and x.dtype not in SMALL and x.size < 1e6


def _mean(x: Term) -> bool:
    return _numbers(x) and x.exact


FORMS = (
    Form(_mean, "tf.argmax(@)", "int64", lambda x: ()),
    Form(_mean, "tf.argmin(@, output_type=tf.int32)", "int32", lambda x: ()),
    Form(_mean, "tf.argsort(@, stable=True)", "int32"),
    Form(_mean, "tf.math.top_k(@, 1)[0]", "", lambda x: (1,)),
    Form(_mean, "tf.nn.top_k(@, 1).indices", "int32", lambda x: (1,)),
    Form(_numbers, "tf.cumsum(@)", exact=False, size=1e6),
    Form(_mean, "tf.boolean_mask(@, @ > 1)", "", lambda x: (None,)),
    Form(_mean, "tf.where(@ > 1)", "int64", lambda x: (None, 1)),
    Form(_mean, "@[@ > 0]", "", lambda x: (None,)),
    Form(_vector, "tf.reverse(@, [0])"),
    Form(
        _vector, "tf.repeat(@, 2)", "", lambda x: (None if x.shape[0] is None else 2 * x.shape[0],)
    ),
    Form(_vector, "tf.unstack(@)[0]", "", lambda x: ()),
    Form(
        _vector,
        "tf.split(@, [1, -1])[1]",
        "",
        lambda x: (None if x.shape[0] is None else x.shape[0] - 1,),
    ),
    Form(_vector, "tf.gather(@, tf.size(@) - 1)", "", lambda x: ()),
    Form(_vector, "@[tf.size(@) - 1]", "", lambda x: ()),
    Form(_vector, "@[:tf.size(@) - 1]", "", lambda x: (None,)),
    Form(_vector, "tf.squeeze(tf.expand_dims(@, 1), axis=1)"),
    Form(_vector, "tf.ensure_shape(@, [None])"),
    Form(_vector, "tf.reshape(@, tf.shape(@))"),
    Form(_vector, "tf.broadcast_to(@, [2, @.shape[0]])", "", lambda x: (2, *x.shape)),
    Form(_vector, "tf.slice(@, [0], [1])", "", lambda x: (1,)),
    Form(_vector, "tf.stack(list(@))"),
    Form(_steady, "tf.fill([2], tf.size(@))", "int32", lambda x: (2,), size=100),
    Form(_steady, "(tf.zeros([2], @.dtype))", "", lambda x: (2,)),
    Form(_steady, "tf.cond(tf.size(@) > 2, lambda: @, lambda: @ + @)", size=1e7),
    Form(_steady, "tf.cond(tf.reduce_all(tf.size(@) == 1), lambda: -@, lambda: @)"),
    Form(_steady, "tf.switch_case(tf.size(@) % 2, [lambda: @, lambda: @ * 2])", size=1e7),
    Form(
        _steady,
        "tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v + 1), (0, @))[1]",
        size=1e7,
    ),
    Form(_numbers, "tf.map_fn(lambda v: v * 2, @)", size=1e7),
    Form(_numbers, "tf.add_n([@, @])", size=1e7),
    Form(
        lambda x: x.rank == 0 and x.dtype in ("int32", "int64") and x.exact,
        "tf.one_hot(@, 3)",
        "float32",
        lambda x: (3,),
        size=1,
    ),
    Form(
        lambda x: x.rank == 0 and x.dtype == "int32" and x.exact,
        "tf.range(abs(@) % 4)",
        "int32",
        lambda x: (None,),
        size=4,
    ),
    Form(
        lambda x: x.rank == 0 and x.dtype == "int32" and x.exact,
        "tf.sequence_mask(abs(@) % 4, 5)",
        "bool",
        lambda x: (5,),
    ),
    Form(
        lambda x: x.rank == 2 and x.floating and x.size < 1e4,
        "tf.matmul(@, @, transpose_b=True)",
        "",
        lambda x: (x.shape[0], x.shape[0]),
        False,
        1e7,
    ),
    Form(
        lambda x: x.rank == 2 and x.floating and x.size < 1e4,
        "tf.linalg.matmul(@, tf.transpose(@))",
        "",
        lambda x: (x.shape[0], x.shape[0]),
        False,
        1e7,
    ),
    Form(
        lambda x: x.floating and x.rank == 1 and x.size < 1e3, "tf.norm(@)", "", lambda x: (), False
    ),
    Form(
        lambda x: x.floating and x.rank == 1 and x.size < 1e3,
        "tf.math.l2_normalize(@)",
        exact=False,
    ),
    Form(
        lambda x: x.floating and x.rank == 1 and bool(x.shape[0]),
        "tf.math.reduce_std(@)",
        "",
        lambda x: (),
        False,
    ),
    Form(lambda x: x.floating, "tf.debugging.check_numerics(@, 'm')"),
    Form(
        lambda x: x.dtype in ("int32", "int64") and x.exact, "tf.bitwise.bitwise_and(@, 3)", size=4
    ),
    Form(lambda x: x.dtype in ("int32", "int64") and x.exact, "(@ & 7)", size=8),
    Form(
        lambda x: x.dtype in ("int32",) and x.exact and x.size < 100,
        "tf.saturate_cast(@, tf.uint8)",
        "uint8",
    ),
    Form(
        lambda x: x.dtype == "string" and x.rank == 1,
        "tf.strings.reduce_join(@, separator='/')",
        "",
        lambda x: (),
    ),
    Form(lambda x: x.dtype == "string", "tf.strings.regex_full_match(@, '[a-z]+')", "bool"),
    Form(
        lambda x: x.dtype == "string" and x.rank == 0, "tf.strings.split(@)", "", lambda x: (None,)
    ),
    Form(lambda x: x.dtype == "string", "tf.where(@ == 'a', 'yes', @)"),
    Form(lambda x: x.dtype == "string", "tf.io.encode_base64(@)"),
)


def broadcast(a: Dims, b: Dims) -> Dims | None:
    """The shape of both, None where they may not fit."""
    out: list[int | None] = []
    rank = max(len(a), len(b))
    left = (1,) * (rank - len(a)) + a
    right = (1,) * (rank - len(b)) + b
    for x, y in zip(left, right, strict=True):
        if x == y and x is not None:
            out.append(x)
        elif x == 1 or y == 1:
            out.append(y if x == 1 else x)
        else:
            return None
    return tuple(out)
