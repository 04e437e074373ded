"""Random Python functions of tensors in pipelines, against TensorFlow: see ../README.md."""
