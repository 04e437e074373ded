#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "spillway/io/file.h"
#include "spillway/io/formats/npy.h"
#include "spillway/io/formats/tar_samples.h"
#include "spillway/io/formats/tfrecord.h"

namespace nb = nanobind;

namespace spillway::python {

void bind_files(nb::module_& m) {
  m.def(
      "framed_tfrecord",
      [](const nb::bytes& record) {
        const std::string framed = framed_tfrecord({record.c_str(), record.size()});
        return nb::bytes(framed.data(), framed.size());
      },
      "A record with its length and checksums, as a TFRecord file has it.");
  m.def(
      "npy_rows",
      [](const std::vector<std::string>& paths) {
        std::vector<std::int64_t> rows;
        for (const std::string& path : paths) {
          const FilePtr file = value_or_throw(open_file(path));
          rows.push_back(value_or_throw(read_npy_header(*file)).rows());
        }
        return rows;
      },
      "How many rows each of these .npy files has.");
  m.def(
      "tar_keys",
      [](const std::string& path, const std::optional<std::string>& compression) {
        FilePtr file = value_or_throw(open_file(path));
        const Compression packed =
            compression ? value_or_throw(compression_named(*compression)) : tar_compression(path);
        auto stream = value_or_throw(
            ByteStream::open(std::move(file), packed, Budget::process().open_account("from_tar")));
        return value_or_throw(first_sample(std::move(stream)));
      },
      nb::arg("path"), nb::arg("compression_type").none(),
      "The extensions of a tar archive's first sample; empty where it has no samples.");
  m.def(
      "raise_file_error",
      [](const std::string& path, int number) { throw_status(file_error(path, number)); },
      "Raises what a system call on a file means that failed with this errno.");
}

}  // namespace spillway::python
