#pragma once

#include <functional>
#include <string>
#include <vector>

#include "spillway/io/record_reader.h"
#include "spillway/pipeline/operator.h"

namespace spillway {

// Turns an opened file's content into rows, or into records: a format of io/formats.
using ReadRows = std::function<Result<RowReaderPtr>(std::unique_ptr<ByteStream>)>;
using ReadRecords = std::function<Result<RecordReaderPtr>(std::unique_ptr<ByteStream>)>;

// What the sources over files share: the files of the parameter `filenames`, read one after the
// other. A file that cannot be opened or read is one error in its place;
// then the next file follows, or, with `resynchronise`, the next good record of the same file. A
// checkpoint is a file and a position in it.
Result<IteratorPtr> open_file_rows(const OpenContext& context, ReadRows read,
                                   bool resynchronise = false);
// Strings, one a record.
Result<IteratorPtr> open_file_rows(const OpenContext& context, ReadRecords read,
                                   bool resynchronise = false);

// The value of a parameter that names files: a string or any number of them. A refusal in
// TensorFlow's class otherwise.
Result<std::vector<std::string>> files_param(const Node& node, std::string_view name);
// Refuses wrong values of the parameters below when the node is built; the elements are string
// scalars.
Result<Inferred> infer_file_rows(const Node& node);

// The parameters every such source begins with.
inline constexpr ParamDef kFilesParam = {"filenames", ParamType::kElement, "",
                                         "a path, or several"};
inline constexpr ParamDef kCompressionParam = {"compression_type", ParamType::kString, "None",
                                               "'' (none), 'ZLIB' or 'GZIP'"};
inline constexpr ParamDef kBufferParam = {"buffer_size", ParamType::kInt, "None",
                                          "bytes read at a time", true};

}  // namespace spillway
