#pragma once

#include "spillway/pipeline/call.h"
#include "spillway/pipeline/run.h"
#include "spillway/pipeline/shard_writer.h"

namespace spillway {

// What save and snapshot share: rows go to the shards that the parameter `shard_func` names, all to
// one where it is None. One thread.
class Saving {
 public:
  Saving(const OpenContext& context, std::string folder);

  // Refuses what cannot be saved, when the node is built: datasets as components, a `compression`
  // or a result of `shard_func` that is none.
  static Status check(const Node& node, bool automatic);

  // Writes rows until one fails: how many were written, and the error of the next. The first call
  // makes the folder.
  struct Put {
    std::int64_t rows = 0;
    Status error;
  };
  Put put(const Chunk& rows, std::int64_t first_index, std::int64_t epoch);
  // Everything was put.
  Status finish(bool replace);
  std::int64_t rows() const { return rows_; }

 private:
  Status begin();
  Status learn(const Chunk& rows);

  const OpenContext context_;
  const std::string folder_;
  const FunctionPtr shard_func_;
  StructurePtr structure_;  // null: not known yet
  const bool declared_;
  std::unique_ptr<ShardWriter> writer_;
  std::int64_t rows_ = 0;
};

}  // namespace spillway
