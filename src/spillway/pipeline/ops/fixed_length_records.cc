#include "spillway/io/formats/fixed_length.h"
#include "spillway/pipeline/file_rows.h"

namespace spillway {
namespace {

constexpr ParamDef kParams[] = {
    kFilesParam,
    {"record_bytes", ParamType::kInt, "", "of each record"},
    {"header_bytes", ParamType::kInt, "None", "passed over at a file's beginning"},
    {"footer_bytes", ParamType::kInt, "None", "left at a file's end"},
    kBufferParam,
    kCompressionParam,
};

Result<Inferred> infer(const Node& node) {
  if (const std::int64_t bytes = node.int_param("record_bytes"); bytes <= 0) {
    return invalid_argument("`record_bytes` must be > 0: ", bytes);
  }
  for (const char* name : {"header_bytes", "footer_bytes"}) {
    if (const std::int64_t bytes = node.int_param(name); bytes < 0) {
      return invalid_argument("`", name, "` must be >= 0: ", bytes);
    }
  }
  return infer_file_rows(node);
}

}  // namespace

extern constexpr OperatorDef fixed_length_records_operator{
    .name = "fixed_length_records",
    .summary = "The records of files whose records all have the same length.",
    .example =
        ">>> import pathlib, tempfile\n"
        ">>> path = pathlib.Path(tempfile.mkdtemp()) / 'a.bin'\n"
        ">>> _ = path.write_bytes(b'onetwo')\n"
        ">>> list(sw.Dataset.fixed_length_records(str(path), 3).as_numpy_iterator())\n"
        "[b'one', b'two']",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      const Node& node = context.node();
      const FixedLength lengths{static_cast<std::uint64_t>(node.int_param("record_bytes")),
                                static_cast<std::uint64_t>(node.int_param("header_bytes")),
                                static_cast<std::uint64_t>(node.int_param("footer_bytes"))};
      return open_file_rows(context, [lengths](std::unique_ptr<ByteStream> stream) {
        return read_fixed_length(std::move(stream), lengths);
      });
    }};

}  // namespace spillway
