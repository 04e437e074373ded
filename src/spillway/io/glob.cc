#include "spillway/io/glob.h"

#include <fnmatch.h>

#include <filesystem>

#include "spillway/base/mutex.h"
#include "spillway/io/file.h"
#include "spillway/io/other_stores.h"

namespace spillway {
namespace {

bool is_pattern(std::string_view part) { return part.find_first_of("*?[\\") != part.npos; }

// Names in `dir` that match `part`. A hidden file is matched by *, as TensorFlow has it.
std::vector<std::string> matching_names(const std::string& dir, const std::string& part) {
  std::vector<std::string> out;
  std::error_code error;
  std::filesystem::directory_iterator it(dir.empty() ? "." : dir, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (fnmatch(part.c_str(), name.c_str(), FNM_PATHNAME) == 0) out.push_back(name);
  }
  return out;
}

// Adds what matches `rest` below `prefix`, which ends in a slash or is empty. What is no pattern is
// kept as the user wrote it.
void match(const std::string& prefix, std::string_view rest, std::vector<std::string>& out) {
  std::size_t begin = 0;
  for (;;) {
    const std::size_t slash = rest.find('/', begin);
    const bool last = slash == rest.npos;
    const std::string part(rest.substr(begin, last ? rest.npos : slash - begin));
    const std::string dir = prefix + std::string(rest.substr(0, begin));
    std::error_code error;
    if (is_pattern(part)) {
      for (const std::string& name : matching_names(dir, part)) {
        if (last) {
          out.push_back(dir + name);
        } else if (std::filesystem::is_directory(dir + name, error)) {
          match(dir + name + "/", rest.substr(slash + 1), out);
        }
      }
      return;
    }
    if (last) {
      if (std::filesystem::exists(dir + part, error)) out.push_back(dir + part);
      return;
    }
    begin = slash + 1;
  }
}

struct Lister {
  Mutex mutex;
  FileLister lister SW_GUARDED_BY(mutex);
};
Lister& lister() {
  static Lister& only = *new Lister;
  return only;
}
FileLister current_lister() {
  const MutexLock lock(lister().mutex);
  return lister().lister;
}

}  // namespace

void set_file_lister(FileLister fresh) {
  const MutexLock lock(lister().mutex);
  lister().lister = std::move(fresh);
}

Status add_matching_files(std::string_view pattern, std::vector<std::string>& out) {
  if (!scheme_of(pattern).empty()) {
    if (const FileLister list = current_lister()) {
      note_other_store();
      return list(std::string(pattern), out);
    }
    return Status::error(ErrorKind::kUser, Code::kUnimplemented, "File system scheme '",
                         scheme_of(pattern), "' not implemented (file: '", pattern, "')");
  }
  match("", pattern, out);
  return {};
}

}  // namespace spillway
