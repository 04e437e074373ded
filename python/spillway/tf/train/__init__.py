"""`tf.train`: checkpoints, and the messages of TFRecord files."""
