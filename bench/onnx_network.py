"""tests.networks.resnet18 as an ONNX model, for ONNX Runtime's own Python."""

from __future__ import annotations

from typing import Any

import numpy as np


def resnet18_model(weights: dict[str, Any]) -> Any:
    """From [batch, 3, height, width] to [batch, classes]; SAME_UPPER pads as TensorFlow does."""
    from onnx import (  # type: ignore[import-not-found, unused-ignore]
        TensorProto,
        checker,
        helper,
        numpy_helper,
    )

    nodes: list[Any] = []
    held: list[Any] = []

    def keep(name: str, value: Any) -> str:
        held.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(op: str, *inputs: str, **attributes: Any) -> str:
        out = f"{op}{len(nodes)}"
        nodes.append(helper.make_node(op, inputs, [out], **attributes))
        return out

    def conv(x: str, name: str, stride: int) -> str:
        kernel = weights[name].transpose(3, 2, 0, 1)
        window = {"kernel_shape": kernel.shape[2:], "strides": [stride] * 2}
        x = node("Conv", x, keep(name, kernel), auto_pad="SAME_UPPER", **window)
        parts = [keep(f"{name}/{part}", weights[f"{name}/{part}"]) for part in _PARTS]
        return node("BatchNormalization", x, *parts, epsilon=1e-5)

    x = node("Relu", conv("x", "first", 2))
    x = node("MaxPool", x, auto_pad="SAME_UPPER", kernel_shape=[3, 3], strides=[2, 2])
    for stage, stride in enumerate((1, 2, 2, 2)):
        for block in range(2):
            name = f"{stage}/{block}"
            by = stride if block == 0 else 1
            y = conv(node("Relu", conv(x, f"{name}/a", by)), f"{name}/b", 1)
            if f"{name}/across" in weights:
                x = conv(x, f"{name}/across", by)
            x = node("Relu", node("Add", y, x))
    x = node("Flatten", node("GlobalAveragePool", x))
    last, bias = keep("last", weights["last"]), keep("bias", weights["last/bias"])
    x = node("Gemm", x, last, bias)
    taken = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3, None, None])
    given = helper.make_tensor_value_info(
        x, TensorProto.FLOAT, ["batch", len(weights["last/bias"])]
    )
    graph = helper.make_graph(nodes, "resnet18", [taken], [given], held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    checker.check_model(model)
    return model


_PARTS = ("scale", "offset", "mean", "variance")
