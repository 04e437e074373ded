#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "spillway/io/gzip_writer.h"
#include "spillway/pipeline/saved_dataset.h"

namespace spillway {

// Writes a run of a saved dataset (saved_dataset.h), any number of shards at a time: rows wait in
// buffers of at most kBuffered bytes in all, charged; rows that are large go straight from their
// tensors to the file. No file stays open in between. One thread.
//
// Nobody finds what was written before finish() has put the metadata in place, after everything is
// on the disk. What is not finished when the writer dies is removed.
class ShardWriter {
 public:
  static constexpr std::size_t kBuffered = std::size_t{2} << 20U;

  // Makes the folder where it is not there, and the run in it. Local paths only. A folder with
  // what TensorFlow saved is refused.
  static Result<std::unique_ptr<ShardWriter>> begin(const std::string& folder,
                                                    Compression compression,
                                                    const AccountPtr& account);
  ~ShardWriter();
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;

  Status put(std::int64_t shard, std::span<const Tensor> values);
  // From here on it is what load finds. With `replace` the run that was there before is removed.
  Status finish(StructurePtr structure, bool replace);
  const SavedDataset& saved() const { return saved_; }

 private:
  struct Shard {
    SavedShard facts;
    std::vector<std::byte> pending;
  };
  ShardWriter(std::string folder, Compression compression, AccountPtr account);
  Status prepare();
  Result<Shard*> shard_of(std::uint64_t id);
  void append(Shard& shard, std::span<const std::byte> bytes);
  Status flush(Shard& shard);
  Status end_shard(Shard& shard);
  Status write_metadata();

  SavedDataset saved_;
  const AccountPtr account_;
  Reservation buffers_;
  std::vector<Reservation> lists_;    // for what is known of each shard
  std::unique_ptr<GzipWriter> gzip_;  // null: not compressed
  std::map<std::uint64_t, Shard> shards_;
  std::size_t buffered_ = 0;
  bool made_ = false;  // the run's folder
  bool finished_ = false;
};

}  // namespace spillway
