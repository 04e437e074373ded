#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spillway/base/base64.h"
#include "spillway/pipeline/policy.h"
#include "spillway/pipeline/sealed_json.h"
#include "spillway/tensor/chunk.h"

namespace {

using namespace spillway;

// Reads the file, opens it and adds to it.
void use(std::string_view content) {
  const int fd = memfd_create("quarantine", MFD_CLOEXEC);
  if (fd < 0 || write(fd, content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    std::abort();
  }
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  Budget budget(16 << 20);
  const auto inputs = read_quarantine(path, budget.open_account("quarantine"));
  if (!inputs.ok() && inputs.error().info().file != path) std::abort();
  const auto file = Quarantine::open(path);
  if (file.ok() && !file.value()->add(bad_data(Code::kDataLoss, "bad")).ok()) std::abort();
  close(fd);
}

// Each line with the checksum that belongs to it.
std::string sealed(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string line(lines.substr(0, end));
    out += (line.ends_with('}') ? seal_json(line) : line) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return out;
}

// A line as an operator writes it, without its checksum: an element of a number and a text.
std::string true_line() {
  Budget budget(1 << 20);
  const AccountPtr account = budget.open_account("line");
  const std::string_view text[] = {"text"};
  const Tensor values[] = {make_scalar<std::int64_t>(account, DType::kInt64, 7).value(),
                           make_strings(account, {}, text).value()};
  std::vector<std::byte> bytes;
  if (!append_row_bytes(values, bytes).ok()) std::abort();
  return R"({"version":2,"stage":"map","origin":"range 3","index":3,"epoch":0,"message":"bad",)"
         R"("structure":{"tuple":[{"dtype":"int64","shape":[]},{"dtype":"string","shape":[]}]},)"
         R"("input":")" +
         to_base64(bytes) + "\"}";
}

// Changes it as (place, length, bytes) say.
std::string spoiled(std::string line, std::span<const std::uint8_t> input) {
  while (input.size() > 3) {
    const std::size_t at = (input[0] | std::size_t{input[1]} << 8U) % line.size();
    const std::size_t some = std::min({std::size_t{input[2]}, input.size() - 3, line.size() - at});
    std::copy_n(input.begin() + 3, some, line.begin() + static_cast<std::ptrdiff_t>(at));
    input = input.subspan(std::min(3 + some, input.size()));
  }
  return line;
}

}  // namespace

// A quarantine file with any content, the same with the checksums that belong to its lines, and a
// true line spoiled before it got its own.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string kLine = true_line();
  const std::string_view given(reinterpret_cast<const char*>(data), size);
  use(given);
  use(sealed(given));
  use(sealed(spoiled(kLine, {data, size})));
  return 0;
}
