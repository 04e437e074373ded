"""Frames, tables and tensors of other libraries."""

from __future__ import annotations

import random

from tests.notebooks.pieces.registry import KIB, MIB, piece, split


@piece("pandas")
def frames_that_are_appended(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 200 * KIB, 8 * MIB)
    column = rng.choice(
        ["np.random.rand({n})", "np.arange({n})", "['text %d' % i for i in range({n})]"]
    )
    n = size // 24 if "text" not in column else size // 120
    end = rng.choice(["", "\nKEPT = pd.concat(KEPT)"])
    return (
        "import pandas as pd\nKEPT = []\n"
        f"for i in range({count}):\n    KEPT.append(pd.DataFrame({{'a': {column.format(n=n)}, 'b': 1.0, 'c': i}}))"
        + end
    )


@piece("torch")
def tensors_of_torch(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 100 * KIB, 64 * MIB)
    made = rng.choice(["torch.ones({n})", "torch.randn({n})", "torch.zeros({n}) + 1"])
    return f"import torch\nKEPT = []\nfor _ in range({count}):\n    KEPT.append({made.format(n=size // 4)})"


@piece("torch")
def tensors_of_torch_touched_late(rng: random.Random, total: int) -> str:
    count = rng.randint(2, 6)
    return (
        f"import torch\nKEPT = [torch.empty({total // 4 // count}) for _ in range({count})]\n"
        "for each in KEPT:\n    each.fill_(1)"
    )


@piece("pyarrow")
def tables_of_arrow(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 200 * KIB, 16 * MIB)
    made = rng.choice(
        [
            f"pa.table({{'a': np.arange({size // 8})}})",
            f"pa.array(['text %d' % i for i in range({size // 40})])",
        ]
    )
    return f"import pyarrow as pa\nKEPT = []\nfor _ in range({count}):\n    KEPT.append({made})"


@piece("pandas")
def frames_that_are_joined(rng: random.Random, total: int) -> str:
    n = max(100, total // 200)
    call = rng.choice(
        [
            "left.merge(right, on='k')",
            "pd.concat([left] * 8)",
            "left.merge(right, how='cross')",
            "left.join(right, lsuffix='l')",
            "left.sort_values('x')",
            "left.groupby('k').agg(list)",
            "left.apply(lambda row: row.x + 1, axis=1)" if n < 20000 else "left.copy()",
            "pd.get_dummies(left.k % 300)",
            "left.pivot_table(index='k', columns='x', values='x')",
            "left.astype(str)",
            "left.to_dict('records')",
            "left.values.copy()",
            "left.melt()",
        ]
    )
    keys = rng.choice([50, 1000, n])
    return (
        "import pandas as pd\n"
        f"left = pd.DataFrame({{'k': np.arange({n}) % {keys}, 'x': np.random.rand({n})}})\n"
        f"right = pd.DataFrame({{'k': np.arange({n}) % {keys}, 'y': np.random.rand({n})}})\n"
        f"KEPT = {call}"
    )


@piece("pandas")
def a_table_read_from_text(rng: random.Random, total: int) -> str:
    n = min(total // 60, 6_000_000)
    read = rng.choice(
        [
            "pd.read_csv(path)",
            "pd.read_csv(path, dtype=str)",
            "pd.concat(pd.read_csv(path, chunksize=100_000))",
            "pd.read_csv(path, engine='python')" if n < 300_000 else "pd.read_csv(path)",
        ]
    )
    return (
        "import os, tempfile\nimport pandas as pd\n"
        "path = os.path.join(tempfile.gettempdir(), 'table.csv')\n"
        "with open(path, 'w') as f:\n    f.write('a,b,c\\n')\n"
        f"    for i in range({n // 1000 + 1}):\n        f.write('%d,0.12345,some text\\n' % i * 1000)\n"
        f"KEPT = {read}"
    )


@piece("pandas")
def a_frame_that_gets_columns(rng: random.Random, total: int) -> str:
    columns = rng.randint(5, 200)
    made = rng.choice(
        ["np.random.rand(len(KEPT))", "KEPT['a'] * 2", "'text'", "KEPT['a'].map(str)"]
    )
    return (
        f"import pandas as pd\nKEPT = pd.DataFrame({{'a': np.arange({max(10, total // 8 // columns)})}})\n"
        f"for i in range({columns}):\n    KEPT['c%d' % i] = {made}"
    )


@piece("pyarrow")
def tables_of_arrow_that_are_computed(rng: random.Random, total: int) -> str:
    n = max(100, total // 24)
    call = rng.choice(
        [
            "pc.add(x, 1)",
            "[pc.multiply(x, i) for i in range(4)]",
            "pc.sort_indices(x)",
            "x.to_pylist()",
            "pc.cast(x, pa.string())",
            "pa.concat_arrays([x] * 4)",
            "x.to_numpy(zero_copy_only=False) * 2",
            "pc.unique(x)",
        ]
    )
    return (
        "import pyarrow as pa\nimport pyarrow.compute as pc\n"
        f"x = pa.array(np.arange({n}))\nKEPT = {call}"
    )


@piece("torch")
def results_of_torch(rng: random.Random, total: int) -> str:
    n = max(100, total // 12)
    call = rng.choice(
        [
            "[x * i for i in range(4)]",
            "torch.cat([x, x, x])",
            "x.sort()",
            "torch.stack([x, x])",
            "x.double()",
            "x.numpy() * 2",
            "torch.from_numpy(np.ones({n})).clone()",
            "x.repeat(4)",
            "x.tolist()",
            "torch.outer(x[:2000], x[: {k}])",
            "torch.nn.Linear(4000, {m})",
        ]
    ).format(n=n, k=max(1, total // 8000), m=max(1, total // 16000))
    return f"import torch\nx = torch.rand({n})\nKEPT = {call}"


@piece("torch")
def gradients_of_torch(rng: random.Random, total: int) -> str:
    width = 2000
    steps = max(1, total // (width * width * 4))
    return (
        f"import torch\nx = torch.rand({width}, {width}, requires_grad=True)\ny = x\n"
        f"for _ in range({steps}):\n    y = (y * 1.01).sin()\n"
        "KEPT = y\ny.sum().backward()"
    )


@piece("torch")
def batches_of_a_torch_loader(rng: random.Random, total: int) -> str:
    batch = rng.choice([8, 64])
    size, count = split(rng, total, 20 * KIB, MIB)
    return (
        "import torch\nfrom torch.utils.data import DataLoader\n"
        f"data = [torch.ones({size // 4}) for _ in range(20)] * {max(1, count // 20)}\n"
        f"KEPT = list(DataLoader(data, batch_size={batch}))"
    )
