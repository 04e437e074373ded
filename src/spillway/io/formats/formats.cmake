spillway_format(fixed_length)
spillway_format(npy)
spillway_format(text_lines)
spillway_format(tfrecord)
