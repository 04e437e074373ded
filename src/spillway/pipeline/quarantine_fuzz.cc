#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "spillway/pipeline/policy.h"

// A quarantine file with any content: read, opened and added to.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace spillway;
  const int fd = memfd_create("quarantine", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  Budget budget(16 << 20);
  const auto inputs = read_quarantine(path, budget.open_account("quarantine"));
  if (!inputs.ok() && inputs.error().info().file != path) std::abort();
  const auto file = Quarantine::open(path);
  if (file.ok() && !file.value()->add(bad_data(Code::kDataLoss, "bad")).ok()) std::abort();
  close(fd);
  return 0;
}
