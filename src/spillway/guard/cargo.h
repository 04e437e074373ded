#pragma once

#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spillway/guard/channel.h"
#include "spillway/guard/parcel.h"

namespace spillway {

// What workers make a function of: a text, and large parts beside it. The front packs it once, and
// it goes to every worker that calls the function. A small one travels in the message. A large one
// lies in a file in memory of its own, reserved before it is filled, and sealed: workers map it for
// themselves, so it is there once however many read it, and what one of them changes is not the
// others'. Once sealed it may be used by any thread.
class Cargo {
 public:
  // Beyond that it is large.
  static constexpr std::size_t kMostInMessage = std::size_t{64} << 10U;

  static std::shared_ptr<const Cargo> small(std::string text);
  // Room for a text and parts of these sizes; kResource with the table of holders where there is
  // none. Then write() adds what it holds, the text first, each part begun with begin_part().
  static Result<std::shared_ptr<Cargo>> large(const AccountPtr& account, std::size_t text,
                                              const std::vector<std::size_t>& parts);
  Cargo(const Cargo&) = delete;
  Cargo& operator=(const Cargo&) = delete;
  ~Cargo();

  // kBug where it is more than was said.
  Status write(std::span<const std::byte> bytes);
  Status begin_part();
  // From now on nobody can change it.
  Status seal();

  std::size_t bytes() const { return size_ + text_.size(); }
  // A number for the content: all of a small one, samples of a large one.
  std::uint64_t fingerprint() const { return fingerprint_; }

  // Into a message; its descriptor, if any, goes along with that.
  void send(MessageWriter& out, std::vector<int>& fds) const;
  // On the other side. A large one's text is the first part, and all parts can be written to.
  static Result<Parcel> receive(MessageReader& in, std::deque<Descriptor>& fds);
  // The same for the process that packed it.
  Result<Parcel> open() const;

 private:
  struct Place {
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
  };
  Cargo() = default;
  static Result<Parcel> map(int fd, std::size_t size, std::span<const Place> places);

  std::string text_;
  Descriptor file_;
  std::size_t size_ = 0;
  std::vector<Place> places_;  // of the text and the parts; empty: a small one
  std::size_t filling_ = 0;    // which of them
  std::uint64_t filled_ = 0;   // of it
  std::uint64_t fingerprint_ = 0;
  Reservation paid_;
};

using CargoPtr = std::shared_ptr<const Cargo>;

}  // namespace spillway
