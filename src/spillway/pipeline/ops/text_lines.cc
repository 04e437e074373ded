#include "spillway/io/formats/text_lines.h"

#include "spillway/pipeline/file_rows.h"

namespace spillway {
namespace {

constexpr ParamDef kParams[] = {kFilesParam, kCompressionParam, kBufferParam};

}  // namespace

extern constexpr OperatorDef text_lines_operator{
    .name = "text_lines",
    .summary = "The lines of text files, without their ends.",
    .example =
        ">>> import pathlib, tempfile\n"
        ">>> path = pathlib.Path(tempfile.mkdtemp()) / 'a.txt'\n"
        ">>> _ = path.write_text('one\\ntwo\\n')\n"
        ">>> list(sw.Dataset.text_lines(str(path)).as_numpy_iterator())\n"
        "[b'one', b'two']",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer_file_rows,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return open_file_rows(context, read_text_lines, /*resynchronise=*/true);
    }};

}  // namespace spillway
