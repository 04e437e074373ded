#pragma once

#include <cstddef>
#include <cstdint>

#include "spillway/memory/budget.h"

namespace spillway {

// What reports tell of an account beside its line in the ledger. Thread-safe.

// The most bytes it ever held at a time.
std::size_t peak_of(const Account& account);

// How long reserve() has waited for memory on its behalf, all threads together. Kept aside: few
// accounts ever wait.
std::int64_t waited_for_memory_ns(const Account& account);

}  // namespace spillway
