#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "spillway/io/file.h"
#include "spillway/io/file_check.h"
#include "spillway/io/formats/npy.h"
#include "spillway/io/formats/tfrecord.h"

namespace nb = nanobind;

namespace spillway::python {

void bind_files(nb::module_& m) {
  m.def("file_formats", [] {  // that `check_file` knows
    std::vector<std::string> out;
    for (const FileFormat& format : file_formats()) out.emplace_back(format.name);
    return out;
  });
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
      "raise_file_error",
      [](const std::string& path, int number) { throw_status(file_error(path, number)); },
      "Raises what a system call on a file means that failed with this errno.");
}

}  // namespace spillway::python
