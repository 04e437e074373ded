#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <deque>
#include <string_view>

#include "spillway/guard/cargo.h"
#include "spillway/guard/parcel.h"
#include "spillway/guard/worker_verbs.h"

namespace {

using namespace spillway;

// Reads every byte, so that one outside is found.
std::size_t sum_of(const Parcel& parcel) {
  std::size_t sum = parcel.text.size();
  for (const BufferPtr& part : parcel.parts) {
    for (std::size_t i = 0; i < part->size(); ++i) sum += static_cast<std::size_t>(part->data()[i]);
  }
  return sum;
}

constexpr std::size_t kRoom = std::size_t{64} << 10U;

Result<Parcel> read(std::uint8_t how, MessageReader& in, const AccountPtr& account,
                    SharedMemory& memory) {
  if (how % 3 == 0) return own_parcel(in, memory.take(account, kRoom));
  if (how % 3 == 1) return view_parcel(in, memory, nullptr);
  // A function on its way to a worker: its file is as long as it is, whatever the message says.
  const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, how * std::size_t{1000}) != 0) std::abort();
  std::deque<Descriptor> fds;
  fds.emplace_back(fd);
  return Cargo::receive(in, fds);
}

}  // namespace

// The first byte says by which way a parcel comes, the rest is the message: an error's facts and
// the parcel. Refused, or parts whose every byte can be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static auto& budget = *new Budget(std::size_t{64} << 20U);
  static const AccountPtr& account = *new AccountPtr(budget.open_account("fuzz"));
  static auto& memory =
      *new std::shared_ptr<SharedMemory>(SharedMemory::create(budget, 1 << 20).value());
  MessageReader in(std::string_view(reinterpret_cast<const char*>(data + 1), size - 1));
  std::size_t sum = 0;
  if (const Status error = read_status(in, data[0] >= 128); !error.ok()) {
    sum += error.message().size();
  }
  {
    const auto parcel = read(data[0], in, account, *memory);
    if (parcel.ok()) sum += sum_of(parcel.value());
  }
  if (account->held() != 0) std::abort();
  return sum == SIZE_MAX ? 1 : 0;
}
