#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/budget.h"

namespace spillway {

// What is held against an element whose call ended a worker.
struct Blame {
  int deaths = 0;         // of workers
  std::int64_t lost = 0;  // rows before it whose results were lost with the first
  Status error;           // where it may not be tried again
  int kills = 0;          // of workers, from outside: nobody's fault, but not for ever
};

// Who is to blame, pass by pass: two passes over one dataset have the same elements, and what one
// of them never came back to is nothing to the next. The account of a stage stands for its pass.
// Keeps a bounded number, the latest of each pass. Thread-safe.
class BlameBook {
 public:
  using Element = std::pair<std::int64_t, std::int64_t>;  // epoch, index

  // Nothing (neither deaths nor kills): not to blame.
  Blame of(const AccountPtr& pass, Element element);
  void blame(const AccountPtr& pass, Element element, Blame blame);
  void acquit(const AccountPtr& pass, Element element);
  // How many of `rows` rows from `first` on come before the next that is to blame: it is called
  // alone.
  std::int64_t rows_before_next(const AccountPtr& pass, Element first, std::int64_t rows);

 private:
  static constexpr std::size_t kMostBlamed = 4096;
  struct Pass {
    std::weak_ptr<Account> account;
    std::map<Element, Blame> blamed;
  };
  // Null: nothing is held against any of its elements.
  Pass* find(const AccountPtr& pass) SW_REQUIRES(mutex_);

  Mutex mutex_;
  std::vector<Pass> passes_ SW_GUARDED_BY(mutex_);
};

}  // namespace spillway
