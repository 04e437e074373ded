#include "spillway/io/formats/tfrecord.h"
#include "spillway/pipeline/file_rows.h"

namespace spillway {
namespace {

constexpr ParamDef kParams[] = {
    kFilesParam,
    kCompressionParam,
    kBufferParam,
    {"resynchronise", ParamType::kBool, "False",
     "after a bad record go on with the next good one of the file, not with the next file"},
};

}  // namespace

extern constexpr OperatorDef tf_record_operator{
    .name = "tf_record",
    .summary = "The records of TFRecord files, both checksums of each compared.",
    .example =
        ">>> import spillway.tf as tf, tempfile\n"
        ">>> path = tempfile.mkdtemp() + '/a.tfrecord'\n"
        ">>> with tf.io.TFRecordWriter(path) as writer:\n"
        "...     writer.write(b'one')\n"
        ">>> list(sw.Dataset.tf_record(path).as_numpy_iterator())\n"
        "[b'one']",
    .params = kParams,
    .inputs = 0,
    .effects = Effects::kReads,
    .fallible = true,
    .ratio = Ratio::kSource,
    .infer = infer_file_rows,
    .open = [](const OpenContext& context) -> Result<IteratorPtr> {
      return open_file_rows(context, read_tfrecords, context.node().bool_param("resynchronise"));
    }};

}  // namespace spillway
