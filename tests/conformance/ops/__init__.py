"""Every function of tensors against TensorFlow's: see README.md beside the package."""
