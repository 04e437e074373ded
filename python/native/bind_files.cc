#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "python.h"
#include "remote_files.h"
#include "spillway/io/file.h"
#include "spillway/io/file_check.h"
#include "spillway/io/formats/npz.h"
#include "spillway/io/formats/tar_samples.h"
#include "spillway/io/formats/tfrecord.h"

namespace nb = nanobind;

namespace spillway::python {

void bind_files(nb::module_& m) {
  use_remote_files();
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
      [](const std::vector<std::string>& paths, const std::optional<std::string>& member) {
        std::vector<std::int64_t> rows;
        const AccountPtr account = Budget::process().open_account("from_npz");
        for (const std::string& path : paths) {
          FilePtr file = value_or_throw(open_file(path));
          rows.push_back(member ? value_or_throw(open_npz(file, *member, account)).header.rows()
                                : value_or_throw(read_npy_header(*file)).rows());
        }
        return rows;
      },
      nb::arg("paths"), nb::arg("member").none() = nb::none(),
      "How many rows each of these .npy files has, or this member of .npz archives.");
  m.def(
      "npz_names",
      [](const std::string& path) {
        const FilePtr file = value_or_throw(open_file(path));
        return value_or_throw(npz_names(*file, Budget::process().open_account("from_npz")));
      },
      "The names of the arrays of an .npz archive.");
  m.def(
      "tar_keys",
      [](const std::string& path, const std::optional<std::string>& compression) {
        const auto found = [&]() -> Result<std::vector<std::string>> {
          const WithoutGil unlocked;  // memory may have to be waited for
          Compression packed = tar_compression(path);
          if (compression) {
            SW_ASSIGN(packed, compression_named(*compression));
          }
          SW_ASSIGN(FilePtr file, open_file(path));
          SW_ASSIGN(auto stream, ByteStream::open(std::move(file), packed,
                                                  Budget::process().open_account("from_tar")));
          return first_sample(std::move(stream));
        }();
        return value_or_throw(found);
      },
      nb::arg("path"), nb::arg("compression_type").none(),
      "The extensions of a tar archive's first sample; empty where it has no samples.");
  m.def(
      "raise_file_error",
      [](const std::string& path, int number) { throw_status(file_error(path, number)); },
      "Raises what a system call on a file means that failed with this errno.");
}

}  // namespace spillway::python
