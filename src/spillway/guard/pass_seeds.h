#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "spillway/base/mutex.h"
#include "spillway/memory/budget.h"

namespace spillway {

// Two numbers into one that depends on every bit of both.
std::uint64_t mix_seeds(std::uint64_t a, std::uint64_t b);

// Seeds for the random numbers of user code in workers. They follow from the pipeline's seed and
// the stage, or are drawn once a pass; never from the worker or the attempt, so that a call that is
// made again in another worker gives the same result. Thread-safe.
class PassSeeds {
 public:
  // `seed`: the pipeline's; nothing: every pass draws its own. `salt` tells apart what the names of
  // stages do not.
  explicit PassSeeds(std::optional<std::uint64_t> seed, std::uint64_t salt = 0)
      : seed_(seed), salt_(salt) {}

  // The seed of the pass that `account`, of its stage, stands for.
  std::uint64_t of(const AccountPtr& account);
  // Another one with each call for the same pass: for what starts several times in it.
  std::uint64_t next(const AccountPtr& account);

 private:
  struct Pass {
    std::weak_ptr<Account> account;
    std::uint64_t seed = 0;
    std::uint64_t starts = 0;
  };
  Pass& pass_of(const AccountPtr& account) SW_REQUIRES(mutex_);

  const std::optional<std::uint64_t> seed_;
  const std::uint64_t salt_;
  Mutex mutex_;
  std::vector<Pass> passes_ SW_GUARDED_BY(mutex_);  // open ones
};

}  // namespace spillway
