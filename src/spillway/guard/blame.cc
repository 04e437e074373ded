#include "spillway/guard/blame.h"

#include <algorithm>

namespace spillway {

BlameBook::Pass* BlameBook::find(const AccountPtr& pass) {
  const auto found = std::ranges::find_if(
      passes_, [&pass](const Pass& each) { return each.account.lock() == pass; });
  return found == passes_.end() ? nullptr : &*found;
}

Blame BlameBook::of(const AccountPtr& pass, Element element) {
  const MutexLock lock(mutex_);
  const Pass* const book = find(pass);
  if (book == nullptr) return {};
  const auto found = book->blamed.find(element);
  return found == book->blamed.end() ? Blame() : found->second;
}

void BlameBook::blame(const AccountPtr& pass, Element element, Blame blame) {
  const MutexLock lock(mutex_);
  Pass* book = find(pass);
  if (book == nullptr) {
    std::erase_if(passes_, [](const Pass& each) { return each.account.expired(); });
    passes_.push_back({pass, {}});
    book = &passes_.back();
  }
  book->blamed[element] = std::move(blame);
  if (book->blamed.size() > kMostBlamed) book->blamed.erase(book->blamed.begin());
}

void BlameBook::acquit(const AccountPtr& pass, Element element) {
  const MutexLock lock(mutex_);
  if (Pass* const book = find(pass)) book->blamed.erase(element);
}

std::int64_t BlameBook::rows_before_next(const AccountPtr& pass, Element first, std::int64_t rows) {
  const MutexLock lock(mutex_);
  const Pass* const book = find(pass);
  if (book == nullptr) return rows;
  const auto next = book->blamed.upper_bound(first);
  if (next == book->blamed.end() || next->first.first != first.first) return rows;
  return std::min(rows, next->first.second - first.second);
}

}  // namespace spillway
