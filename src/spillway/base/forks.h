#pragma once

namespace spillway {

// How many forks lie between the process that loaded this library and this one.
int forks();

// The process in which an object was made. Its child by fork has a copy of the object, but what
// that stands for, a process, a file, a thread, belongs to the parent alone. Cheap to ask.
class HomeProcess {
 public:
  bool here() const { return made_ == forks(); }

 private:
  int made_ = forks();
};

}  // namespace spillway
