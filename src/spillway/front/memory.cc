#include "spillway/memory.h"

#include "spillway/base/bytes.h"
#include "spillway/memory/budget.h"
#include "spillway/memory/slab_pool.h"
#include "spillway/memory/spill_file.h"

namespace spillway {

Status set_memory_limit(std::size_t bytes) {
  if (bytes == 0) return invalid_argument("memory limit: must be positive: 0");
  Budget::process().set_limit(bytes);
  SlabPool::process().drop_idle(SIZE_MAX);
  return {};
}

Status set_memory_limit(std::string_view text) {
  SW_ASSIGN(const std::size_t bytes, parse_bytes(text));
  return set_memory_limit(bytes);
}

void set_spill_directory(const std::string& directory) { SpillFile::set_directory(directory); }

MemoryReport memory_report() {
  const Ledger ledger = Budget::process().ledger();
  return {ledger.limit, ledger.effective, ledger.used,
          ledger.peak,  ledger.untracked, ledger.to_string()};
}

}  // namespace spillway
