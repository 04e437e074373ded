#pragma once

#include "spillway/io/record_reader.h"

namespace spillway {

// TFRecord: length (8 bytes), its masked CRC-32C (4), the record, its masked CRC-32C (4). Both
// checksums are compared for every record. Errors: CorruptFile, "corrupted record at ..." or
// "truncated record at ..."; a length is believed only behind its checksum, and never beyond the
// end of a file whose length is known. `resynchronise` looks for the next place at which a length
// and the record behind it have their checksums.
Result<RecordReaderPtr> read_tfrecords(std::unique_ptr<ByteStream> stream);

// Whether a file may begin so: a length with its checksum.
bool is_tfrecord(std::span<const std::byte> first);

// One record with its frame, as a file has it.
std::string framed_tfrecord(std::string_view record);

}  // namespace spillway
