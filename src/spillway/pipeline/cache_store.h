#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "spillway/pipeline/operator.h"

namespace spillway {

// The rows of a finished cache, in order.
class CacheSource {
 public:
  virtual ~CacheSource() = default;
  // Rows from `row` on; the end behind the last.
  virtual Next read(std::int64_t row, const Demand& demand) = 0;
  // The rows were given up under pressure: they must be made again.
  virtual bool gone() const { return false; }
  // How the pass that filled the cache began; empty when not known.
  virtual std::string start() const { return ""; }
};

// A cache being filled. What is not finished when it dies leaves no trace.
class CacheSink {
 public:
  virtual ~CacheSink() = default;
  // Before the input is first asked: whether it may be filled at all.
  virtual Status begin() { return {}; }
  virtual Status put(const Chunk& rows, std::int64_t row) = 0;
  virtual Status finish() = 0;
  // The rows put so far, for whoever puts the next; null where they cannot be read before the end.
  virtual std::unique_ptr<CacheSource> so_far() const { return nullptr; }
};

// Where a cache's rows are.
class CacheStore {
 public:
  virtual ~CacheStore() = default;
  // Null while nothing is finished.
  virtual Result<std::unique_ptr<CacheSource>> source(const OpenContext& context) = 0;
  // `start`: the state of the input at the beginning of this pass.
  virtual Result<std::unique_ptr<CacheSink>> sink(const OpenContext& context,
                                                  std::string start) = 0;
  // Whether it is finished when the input's known number of rows is reached, or only at its end.
  virtual bool finishes_by_count() const = 0;
};

// Belongs to the node: shared by its iterators, kept in memory and on disk as a RowStore does.
// With `repeatable` the rows can be made again, and go when memory is needed.
std::shared_ptr<CacheStore> memory_cache(Budget& budget, std::string name, std::string line,
                                         bool repeatable);
// `path`.cache, checked row by row; written under another name, then renamed. Never unpickled.
std::shared_ptr<CacheStore> file_cache(std::string path);

}  // namespace spillway
