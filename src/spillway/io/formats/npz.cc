#include "spillway/io/formats/npz.h"

#include <algorithm>

#include "spillway/io/formats/zip_member.h"

namespace spillway {
namespace {

constexpr std::string_view kSuffix = ".npy";

std::string joined(const std::vector<ZipMember>& members) {
  std::string out;
  for (const ZipMember& member : members) {
    if (out.size() > 200) return out + ", ...";
    out += (out.empty() ? "" : ", ") + member.name;
  }
  return out.empty() ? "nothing" : out;
}

}  // namespace

Result<std::vector<std::string>> npz_names(const File& archive, const AccountPtr& account) {
  SW_ASSIGN(const std::vector<ZipMember> members, read_zip_directory(archive, account));
  std::vector<std::string> out;
  for (const ZipMember& member : members) {
    if (!member.name.ends_with(kSuffix)) {
      return corrupt_file(archive.path(), member.data, archive.path(),
                          ": expected arrays (NAME.npy), found '", member.name,
                          "': name those to take with keys=");
    }
    out.push_back(member.name.substr(0, member.name.size() - kSuffix.size()));
  }
  std::vector<std::string> sorted = out;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
    return corrupt_file(archive.path(), 0, archive.path(), ": the array '", *twice,
                        "' is there twice");
  }
  return out;
}

Result<NpyArray> open_npz(FilePtr archive, const std::string& name, const AccountPtr& account) {
  SW_ASSIGN(const std::vector<ZipMember> members, read_zip_directory(*archive, account));
  const std::string wanted = name + std::string(kSuffix);
  const auto found = std::ranges::find(members, wanted, &ZipMember::name);
  if (found == members.end() || std::ranges::count(members, wanted, &ZipMember::name) > 1) {
    return corrupt_file(archive->path(), archive->size(), archive->path(), ": expected one array '",
                        name, "', found ", joined(members));
  }
  SW_ASSIGN(FilePtr file, open_zip_member(std::move(archive), *found, account));
  SW_ASSIGN(NpyHeader header, read_npy_header(*file));
  const std::uint64_t said =
      header.data + static_cast<std::uint64_t>(header.rows()) * header.row_bytes();
  if (said != file->size()) {
    return corrupt_file(file->path(), header.data, file->path(), ": ", name_of(header.dtype), " ",
                        header.shape.to_string(), " takes ", said, " bytes: expected as many, ",
                        "found ", file->size());
  }
  if (found->deflated && header.fortran && header.shape.rank() > 1) {
    Status status = bad_data(Code::kInvalidArgument, file->path(),
                             ": rows of a compressed array must be in C order, found Fortran's: ",
                             "save it with np.ascontiguousarray, or with np.savez");
    status.edit().file = file->path();
    return status;
  }
  return NpyArray{std::move(file), std::move(header)};
}

}  // namespace spillway
