#include "spillway/guard/cargo.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "spillway/base/bytes.h"
#include "spillway/memory/machine.h"
#include "spillway/tensor/fingerprint.h"

namespace spillway {
namespace {

constexpr std::size_t kSampled = 4096;  // bytes of each write that a fingerprint covers
constexpr int kSeals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

std::uint64_t mix(std::uint64_t before, std::string_view bytes) {
  Fnv64 hash;
  hash.add(std::string_view(reinterpret_cast<const char*>(&before), sizeof(before)));
  hash.add(bytes);
  return hash.value();
}

Status refused(std::string_view what) {
  return out_of_resource("memory for a function on its way to workers: ", what, ": ",
                         std::strerror(errno));
}

// A mapping, until its last part goes.
class Mapping {
 public:
  Mapping(void* base, std::size_t size) : base_(base), size_(size) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() { munmap(base_, size_); }
  std::byte* at(std::uint64_t offset) const { return static_cast<std::byte*>(base_) + offset; }

 private:
  void* const base_;
  const std::size_t size_;
};

}  // namespace

CargoPtr Cargo::small(std::string text) {
  const std::shared_ptr<Cargo> made(new Cargo);
  made->text_ = std::move(text);
  made->fingerprint_ = mix(0, made->text_);
  return made;
}

Result<std::shared_ptr<Cargo>> Cargo::large(const AccountPtr& account, std::size_t text,
                                            const std::vector<std::size_t>& parts) {
  std::shared_ptr<Cargo> made(new Cargo);
  made->places_.push_back({0, text});
  std::size_t end = SharedMemory::rounded(text);
  for (const std::size_t bytes : parts) {
    made->places_.push_back({end, bytes});
    end += SharedMemory::rounded(bytes);
  }
  end = std::max(end, SharedMemory::kPage);
  SW_ASSIGN(made->paid_, account->reserve(end));
  made->file_ = Descriptor(memfd_create("spillway function", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!made->file_) return refused("no file in memory");
  // Its pages are there at once: what is allocated while it is filled is admitted beside them.
  const int failed = posix_fallocate(made->file_.get(), 0, static_cast<off_t>(end));
  if (failed != 0) {
    errno = failed;
    return refused(format_bytes(end));
  }
  made->size_ = end;
  made->paid_.touch();
  bytes_elsewhere() += end;
  return made;
}

Cargo::~Cargo() { bytes_elsewhere() -= size_; }

Status Cargo::begin_part() {
  if (filled_ != places_[filling_].bytes || filling_ + 1 >= places_.size()) {
    return internal_bug("a function on its way to workers changed while it was packed");
  }
  ++filling_;
  filled_ = 0;
  return {};
}

Status Cargo::write(std::span<const std::byte> bytes) {
  const Place& place = places_[filling_];
  if (bytes.size() > place.bytes - filled_) {
    return internal_bug("a function on its way to workers grew while it was packed");
  }
  fingerprint_ = mix(fingerprint_ + bytes.size(), {reinterpret_cast<const char*>(bytes.data()),
                                                   std::min(bytes.size(), kSampled)});
  while (!bytes.empty()) {
    const ssize_t written =
        pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(place.at + filled_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return refused(format_bytes(bytes.size()));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    filled_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

Status Cargo::seal() {
  if (filling_ + 1 != places_.size() || filled_ != places_[filling_].bytes) {
    return internal_bug("a function on its way to workers shrank while it was packed");
  }
  return fcntl(file_.get(), F_ADD_SEALS, kSeals) == 0 ? Status() : refused("it cannot be sealed");
}

void Cargo::send(MessageWriter& out, std::vector<int>& fds) const {
  out.add(std::string_view(text_)).add(static_cast<std::uint64_t>(places_.size()));
  if (places_.empty()) return;
  for (const Place& place : places_) out.add(place.at).add(place.bytes);
  fds.push_back(file_.get());
}

Result<Parcel> Cargo::receive(MessageReader& in, std::deque<Descriptor>& fds) {
  Parcel parcel;
  parcel.text = in.text();
  std::vector<Place> places(in.count(sizeof(Place)));
  if (places.empty()) return parcel;
  for (Place& place : places) {
    place.at = in.get<std::uint64_t>();
    place.bytes = in.get<std::uint64_t>();
  }
  if (!in.ok() || fds.empty()) return internal_bug("a function arrived in a worker damaged");
  const Descriptor file = std::move(fds.front());
  fds.pop_front();
  struct stat facts{};
  if (fstat(file.get(), &facts) != 0) return refused("its descriptor");
  return map(file.get(), static_cast<std::size_t>(facts.st_size), places);
}

Result<Parcel> Cargo::open() const {
  if (!places_.empty()) return map(file_.get(), size_, places_);
  Parcel parcel;
  parcel.text = text_;
  return parcel;
}

Result<Parcel> Cargo::map(int fd, std::size_t size, std::span<const Place> places) {
  // Private: pages that are written to are copied, each for whoever does it.
  void* const base =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) return refused(format_bytes(size));
  const auto keep = std::make_shared<Mapping>(base, size);
  Parcel parcel;
  for (const Place& place : places) {
    if (place.at > size || place.bytes > size - place.at) {
      return internal_bug("a function arrived in a worker damaged");
    }
    parcel.parts.push_back(
        std::make_shared<Buffer>(Buffer::adopt(keep->at(place.at), place.bytes, keep)));
  }
  return parcel;
}

}  // namespace spillway
