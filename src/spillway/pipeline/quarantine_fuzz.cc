#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "spillway/pipeline/policy.h"

// A quarantine file with any content: opened and added to.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  const int fd = memfd_create("quarantine", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto file = Quarantine::open("/proc/self/fd/" + std::to_string(fd));
  if (file.ok() && !file.value()->add(bad_data(Code::kDataLoss, "bad")).ok()) std::abort();
  close(fd);
  return 0;
}
