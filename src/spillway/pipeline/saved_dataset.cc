#include "spillway/pipeline/saved_dataset.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spillway/base/bytes.h"
#include "spillway/pipeline/sealed_json.h"
#include "spillway/pipeline/structure_json.h"

namespace spillway {
namespace {

constexpr std::string_view kPlain;  // not compressed

using Json = nlohmann::json;

constexpr int kVersion = 2;                      // 1: without a checksum
constexpr std::size_t kMostMetadata = 8 * kMiB;  // kMostShards shards have less
constexpr std::size_t kParsed = 32;  // bytes a byte of JSON may take: "{}," is the worst
constexpr RowFileReader::Kind kKind = {kSavedMagic, "saved dataset", ""};

Status malformed(const std::string& path, std::string_view what) {
  return corrupt_file(path, 0, "saved dataset ", path, ": ", what);
}

Status not_saved(const std::string& folder) {
  const std::string spec = folder + "/dataset_spec.pb";
  // Another store says that anything may be there; only opening it tells.
  if (open_file(spec).ok()) {
    Status status = Status::error(
        ErrorKind::kUser, Code::kUnimplemented, "load: ", folder,
        " was saved by TensorFlow (it has dataset_spec.pb), whose files cannot be read here: read "
        "it with TensorFlow and save it with spillway's Dataset.save");
    status.edit().file = spec;
    return status;
  }
  Status status = bad_data(
      Code::kNotFound, "load: no dataset was saved there: ", metadata_path(folder), " is missing");
  status.edit().type = "FileError";
  status.edit().file = metadata_path(folder);
  return status;
}

Result<std::string> read_text(const File& file) {
  if (file.size() > kMostMetadata) {
    return malformed(file.path(), "metadata must have at most " + format_bytes(kMostMetadata) +
                                      ", it has " +
                                      format_bytes(static_cast<std::size_t>(file.size())));
  }
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  SW_ASSIGN(const std::size_t got, file.read(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  return text;
}

template <class Number>
bool get_count(const Json& json, const char* key, Number& out) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return false;
  if (!found->is_number_unsigned() && found->template get<std::int64_t>() < 0) return false;
  const auto value = found->template get<std::uint64_t>();
  if (!std::in_range<Number>(value)) return false;
  out = static_cast<Number>(value);
  return true;
}

Status parse_shards(const std::string& path, const Json& json, SavedDataset& out) {
  const auto shards = json.find("shards");
  if (shards == json.end() || !shards->is_array() || shards->size() > kMostShards) {
    return malformed(path, "`shards` must be a list of at most " + std::to_string(kMostShards));
  }
  for (const Json& item : *shards) {
    SavedShard shard;
    if (!item.is_object() || !get_count(item, "id", shard.id) ||
        !get_count(item, "rows", shard.rows) || !get_count(item, "bytes", shard.bytes)) {
      return malformed(path, "a shard must have `id`, `rows` and `bytes`, none of them negative");
    }
    if (!out.shards.empty() && shard.id <= out.shards.back().id) {
      return malformed(path, "shards must be in the order of their ids");
    }
    if (__builtin_add_overflow(out.rows, shard.rows, &out.rows)) {
      return malformed(path, "there are too many rows");
    }
    out.shards.push_back(shard);
  }
  return {};
}

Status check_seal(const std::string& path, std::string_view text, int version) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  const JsonSeal seal = check_json(text);
  if (seal == JsonSeal::kBroken) {
    return malformed(path, "the metadata do not have their checksum: the file was changed");
  }
  if (version < 1 || version > kVersion) {
    return Status::error(ErrorKind::kUser, Code::kUnimplemented, "load: ", path,
                         ": the format must be version ", kVersion, ": ", version);
  }
  if (version > 1 && seal == JsonSeal::kNone) {
    return malformed(path, "the metadata must end with their checksum: the file was changed");
  }
  return {};
}

Result<SavedDataset> parse(const std::string& folder, const std::string& text) {
  const std::string path = metadata_path(folder);
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return malformed(path, "this is not JSON that spillway wrote");
  int version = 0;
  if (!get_count(json, "spillway_dataset", version)) {
    return malformed(path, "this is not JSON that spillway wrote");
  }
  SW_RETURN_IF_ERROR(check_seal(path, text, version));
  SavedDataset out;
  out.folder = folder;
  if (const auto run = json.find("run");
      run == json.end() || !run->is_string() || !is_run_name(run->get_ref<const std::string&>())) {
    return malformed(path, "`run` must be 16 hexadecimal digits");
  }
  out.run = json["run"].get<std::string>();
  const auto compression = json.find("compression");
  if (compression == json.end() || (*compression != kPlain && *compression != "GZIP")) {
    return malformed(path, "`compression` must be \"\" or \"GZIP\"");
  }
  out.compression = *compression == kPlain ? Compression::kNone : Compression::kGzip;
  const auto spec = json.find("element_spec");
  if (spec == json.end()) return malformed(path, "`element_spec` is missing");
  auto structure = structure_from_json(*spec);
  if (!structure.ok()) return malformed(path, structure.error().message());
  out.structure = std::move(structure).value();
  SW_RETURN_IF_ERROR(parse_shards(path, json, out));
  return out;
}

}  // namespace

std::string metadata_path(const std::string& folder) { return folder + "/snapshot.metadata"; }

std::string shard_path(const std::string& folder, const std::string& run, std::uint64_t id) {
  std::string number = std::to_string(id);
  if (number.size() < 8) number.insert(0, 8 - number.size(), '0');
  return folder + "/" + run + "/" + number + ".shard";
}

bool is_run_name(std::string_view name) {
  return name.size() == 16 && name.find_first_not_of("0123456789abcdef") == name.npos;
}

std::string_view name_of(Compression compression) {
  return compression == Compression::kGzip ? "GZIP" : "";
}

Result<Compression> saved_compression(std::string_view name, bool automatic) {
  if (name.empty() || name == "NONE") return Compression::kNone;
  if (name == "GZIP") return Compression::kGzip;
  if (automatic && (name == "AUTO" || name == "SNAPPY")) return Compression::kNone;
  Status status = invalid_argument("`compression` must be None, \"NONE\" or \"GZIP\"",
                                   automatic ? ", \"AUTO\" or \"SNAPPY\"" : "", ": \"", name, "\"");
  status.edit().type = "ValueError";
  return status;
}

Result<SavedDataset> read_saved(const std::string& folder) {
  const std::string path = metadata_path(folder);
  auto file = open_file(path);
  if (!file.ok()) {
    if (file.error().code() == Code::kNotFound) return not_saved(folder);
    return std::move(file).status();
  }
  static const auto& account = *new AccountPtr(Budget::process().open_account("saved datasets"));
  const auto size = static_cast<std::size_t>(file.value()->size());
  const auto room = account->try_reserve(std::min(size, kMostMetadata) * kParsed);
  if (!room) {
    Status status = out_of_resource("load: ", path, ": no memory to read ", format_bytes(size),
                                    " of metadata with");
    status.edit().type = "BudgetError";
    status.edit().file = path;
    return status;
  }
  SW_ASSIGN(const std::string text, read_text(*file.value()));
  if (!text.starts_with('{') && open_file(folder + "/dataset_spec.pb").ok()) {
    return not_saved(folder);
  }
  return parse(folder, text);
}

std::string metadata_text(const SavedDataset& saved) {
  Json shards = Json::array();
  for (const SavedShard& shard : saved.shards) {
    shards.push_back({{"id", shard.id}, {"rows", shard.rows}, {"bytes", shard.bytes}});
  }
  const Json json = {{"spillway_dataset", kVersion},
                     {"run", saved.run},
                     {"compression", name_of(saved.compression)},
                     {"element_spec", structure_to_json(*saved.structure)},
                     {"shards", std::move(shards)}};
  return seal_json(json.dump(-1, ' ', false, Json::error_handler_t::replace)) + "\n";
}

Result<std::unique_ptr<RowFileReader>> open_shard(const std::string& path, const SavedShard& shard,
                                                  Compression compression,
                                                  const StructurePtr& structure,
                                                  const AccountPtr& account) {
  SW_ASSIGN(FilePtr file, open_file(path));
  if (file->size() != shard.bytes) {
    return corrupt_file(path, std::min(file->size(), shard.bytes), "saved dataset ", path,
                        ": the file does not have its size: expected ", shard.bytes,
                        " bytes, found ", file->size());
  }
  SW_ASSIGN(auto bytes, ByteStream::open(std::move(file), compression, account));
  auto reader = std::make_unique<RowFileReader>(std::move(bytes), kKind, structure, account);
  SW_RETURN_IF_ERROR(reader->open());
  return reader;
}

}  // namespace spillway
