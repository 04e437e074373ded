#pragma once

#include "spillway/io/record_reader.h"

namespace spillway {

// The lines of a text, without their ends; as TensorFlow has it a carriage return belongs to no
// line, wherever it stands. What follows the last newline is a line unless it is empty.
Result<RecordReaderPtr> read_text_lines(std::unique_ptr<ByteStream> stream);

}  // namespace spillway
