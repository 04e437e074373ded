#include "spillway/guard/pass_seeds.h"

#include <algorithm>

#include "spillway/base/bytes.h"
#include "spillway/base/random.h"

namespace spillway {

std::uint64_t mix_seeds(std::uint64_t a, std::uint64_t b) {
  // SplitMix64's finalizer: counters next to each other give unrelated seeds.
  std::uint64_t x = a + 0x9E3779B97F4A7C15ULL * (b + 1);
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

PassSeeds::Pass& PassSeeds::pass_of(const AccountPtr& account) {
  for (Pass& pass : passes_) {
    if (pass.account.lock() == account) return pass;
  }
  std::erase_if(passes_, [](const Pass& pass) { return pass.account.expired(); });
  Pass pass;
  pass.account = account;
  Fnv64 stage;
  stage.add(account->name());
  pass.seed = seed_ ? mix_seeds(*seed_, stage.value()) : entropy64();
  pass.seed = mix_seeds(pass.seed, salt_);
  passes_.push_back(std::move(pass));
  return passes_.back();
}

std::uint64_t PassSeeds::of(const AccountPtr& account) {
  const MutexLock lock(mutex_);
  return pass_of(account).seed;
}

std::uint64_t PassSeeds::next(const AccountPtr& account) {
  const MutexLock lock(mutex_);
  Pass& pass = pass_of(account);
  return mix_seeds(pass.seed, pass.starts++);
}

}  // namespace spillway
