#pragma once

#include <string>

namespace spillway::python {

// Remembers which file this thread opened last while user code runs, through Python's audit hook,
// so that an error in a generator can name it. Costs nothing outside the scope.
class FileWatch {
 public:
  FileWatch();
  ~FileWatch();
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  static std::string last();  // of this thread's last or present scope
  static void install();      // once, at import

 private:
  bool before_;
};

}  // namespace spillway::python
