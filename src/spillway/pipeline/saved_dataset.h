#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "spillway/io/byte_stream.h"
#include "spillway/pipeline/row_file.h"
#include "spillway/tensor/structure.h"

namespace spillway {

// A saved dataset is a folder: `snapshot.metadata` (JSON) names a run and its shards; the run is a
// folder below with one row file a shard. What no metadata names was not finished, and is not
// there for anybody. docs/formats.md has the details.
struct SavedShard {
  std::uint64_t id = 0;  // what shard_func said
  std::int64_t rows = 0;
  std::uint64_t bytes = 0;  // of the file
};
struct SavedDataset {
  std::string folder;
  std::string run;  // 16 hexadecimal digits
  StructurePtr structure;
  Compression compression = Compression::kNone;
  std::vector<SavedShard> shards;  // by their ids
  std::int64_t rows = 0;
};

inline constexpr std::size_t kMostShards = 65'536;
inline constexpr RowFileMagic kSavedMagic = {'S', 'P', 'W', 'S', 'A', 'V', 'E', 'D', 1};

std::string metadata_path(const std::string& folder);
std::string shard_path(const std::string& folder, const std::string& run, std::uint64_t id);
bool is_run_name(std::string_view name);
// "GZIP", or "" for none; what load, save and snapshot take: None, "", "NONE", "GZIP", and where
// `automatic` "AUTO" and "SNAPPY", which mean none.
std::string_view name_of(Compression compression);
Result<Compression> saved_compression(std::string_view name, bool automatic);

// Through the seam of io/file.h; every fact in it is checked, and none can name a file elsewhere.
// NOT_FOUND where nothing was saved; UNIMPLEMENTED where TensorFlow saved it, which is said.
Result<SavedDataset> read_saved(const std::string& folder);
std::string metadata_text(const SavedDataset& saved);

// The rows of one shard. A file that has another size than was noted is refused before it is read.
Result<std::unique_ptr<RowFileReader>> open_shard(const std::string& path, const SavedShard& shard,
                                                  Compression compression,
                                                  const StructurePtr& structure,
                                                  const AccountPtr& account);

}  // namespace spillway
