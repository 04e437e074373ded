#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "interrupts.h"
#include "python.h"
#include "remote_files.h"
#include "spillway/base/interrupt.h"
#include "spillway/io/file.h"
#include "spillway/io/file_check.h"
#include "spillway/io/formats/npz.h"
#include "spillway/io/formats/tar_samples.h"
#include "spillway/io/formats/tfrecord.h"
#include "spillway/io/regular_file.h"
#include "spillway/pipeline/operator.h"

namespace nb = nanobind;

namespace spillway::python {
namespace {

// What `read` gives, asked without the GIL; Ctrl-C is heard.
template <class Read>
auto read_files(const Read& read) {
  Interrupts interrupts;
  auto out = [&] {
    const WithoutGil unlocked;  // memory may have to be waited for
    return read();
  }();
  if (interrupts.raise()) throw nb::python_error();
  return value_or_throw(std::move(out));
}

Result<std::int64_t> rows_in(const std::string& path, const std::optional<std::string>& member,
                             const AccountPtr& account) {
  SW_ASSIGN(FilePtr file, open_file(path));
  if (member) {
    SW_ASSIGN(const NpyArray array, open_npz(std::move(file), *member, account));
    return array.header.rows();
  }
  SW_ASSIGN(const NpyHeader header, read_npy_header(*file));
  return header.rows();
}

Result<std::vector<std::int64_t>> rows_of(const std::vector<std::string>& paths,
                                          const std::optional<std::string>& member, bool lenient) {
  std::vector<std::int64_t> rows;
  const AccountPtr account = Budget::process().open_account("from_npz");
  for (const std::string& path : paths) {
    if (interrupted()) return cancelled();
    auto found = rows_in(path, member, account);
    if (!found.ok() && !(lenient && is_position(found.error()))) return std::move(found).status();
    rows.push_back(found.ok() ? found.value() : -1);
  }
  return rows;
}

Result<std::vector<std::string>> names_in_npz(const std::string& path) {
  SW_ASSIGN(const FilePtr file, open_file(path));
  return npz_names(*file, Budget::process().open_account("from_npz"));
}

Result<std::vector<std::string>> keys_in_tar(const std::string& path,
                                             const std::optional<std::string>& compression) {
  Compression packed = tar_compression(path);
  if (compression) {
    SW_ASSIGN(packed, compression_named(*compression));
  }
  SW_ASSIGN(FilePtr file, open_file(path));
  SW_ASSIGN(auto stream,
            ByteStream::open(std::move(file), packed, Budget::process().open_account("from_tar")));
  return first_sample(std::move(stream));
}

}  // namespace

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
      [](const std::vector<std::string>& paths, const std::optional<std::string>& member,
         bool lenient) { return read_files([&] { return rows_of(paths, member, lenient); }); },
      nb::arg("paths"), nb::arg("member").none() = nb::none(), nb::arg("lenient") = false,
      "How many rows each of these .npy files has, or this member of .npz archives. `lenient`: -1 "
      "where that cannot be read.");
  m.def(
      "npz_names",
      [](const std::string& path) { return read_files([&] { return names_in_npz(path); }); },
      "The names of the arrays of an .npz archive.");
  m.def(
      "tar_keys",
      [](const std::string& path, const std::optional<std::string>& compression) {
        return read_files([&] { return keys_in_tar(path, compression); });
      },
      nb::arg("path"), nb::arg("compression_type").none(),
      "The extensions of a tar archive's first sample; empty where it has no samples.");
  m.def(
      "refuse_special",
      [](const nb::bytes& path) {
        const std::string name(path.c_str(), path.size());
        const Status status = refuse_special(name);
        const bool folder = status.code() == Code::kFailedPrecondition;
        if (!status.ok() && !folder) throw_status(status);
      },
      "Raises FileError where something is there that is neither a file nor a folder.");
  m.def(
      "raise_file_error",
      [](const std::string& path, int number) { throw_status(file_error(path, number)); },
      "Raises what a system call on a file means that failed with this errno.");
}

}  // namespace spillway::python
