#include "spillway/io/formats/tar_samples.h"

#include <algorithm>

namespace spillway {
namespace {

constexpr std::size_t kMostWords = 200;

bool is_meta(std::string_view member) {
  const std::string_view first = member.substr(0, member.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) {
    if (word != kSampleKey) out += (out.empty() ? "" : ", ") + word;
  }
  return out;
}

}  // namespace

std::optional<SampleName> sample_name(std::string_view member) {
  if (is_meta(member)) return std::nullopt;
  const std::size_t slash = member.rfind('/');
  const std::size_t base = slash == member.npos ? 0 : slash + 1;
  const std::size_t dot = member.find('.', base);
  if (dot == member.npos) return std::nullopt;
  if (dot == base) {
    // A name that begins with a dot belongs to its folder, if that has a name without one.
    if (base == 0) return std::nullopt;
    const std::size_t before = slash == 0 ? member.npos : member.rfind('/', slash - 1);
    const std::size_t folder = before == member.npos ? 0 : before + 1;
    if (member.substr(folder, slash - folder).find('.') != member.npos) return std::nullopt;
  }
  return SampleName{std::string(member.substr(0, dot)), lower(member.substr(dot + 1))};
}

Result<std::vector<std::string>> first_sample(std::unique_ptr<ByteStream> stream) {
  TarReader archive(std::move(stream));
  std::vector<std::string> out;
  std::optional<std::string> key;
  for (;;) {
    SW_ASSIGN(const std::optional<TarMember> member, archive.next());
    if (!member) break;
    if (!member->regular) continue;
    auto name = sample_name(member->name);
    if (!name) continue;
    if (key && name->key != *key) break;
    key = name->key;
    out.push_back(std::move(name->extension));
    if (out.size() > 1000) {
      return corrupt_file(archive.path(), member->begin, archive.path(), ": sample '", *key,
                          "' must have at most 1000 members");
    }
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

TarSamples::TarSamples(std::unique_ptr<ByteStream> stream, AccountPtr account,
                       std::vector<std::string> columns, bool exact)
    : archive_(std::move(stream)),
      account_(std::move(account)),
      columns_(std::move(columns)),
      key_column_(
          static_cast<std::size_t>(std::ranges::find(columns_, kSampleKey) - columns_.begin())),
      exact_(exact),
      carried_(columns_.size()),
      seen_bytes_(columns_.size()) {}

std::uint64_t TarSamples::position() const {
  if (sample_) return sample_->begin;
  return member_ ? member_->begin : archive_.position();
}

// As large as the samples so far let expect; the first alone.
std::vector<StringRows> TarSamples::make_columns(std::int64_t rows, std::size_t bytes) const {
  std::uint64_t each = 0;  // sample
  for (const std::uint64_t seen : seen_bytes_)
    each += seen / std::max<std::uint64_t>(seen_rows_, 1);
  std::int64_t fit = 1;
  if (seen_rows_ > 0) {
    const auto most = static_cast<std::int64_t>(bytes / std::max<std::uint64_t>(each, 1));
    fit = std::clamp<std::int64_t>(most, 1, rows);
  }
  std::vector<StringRows> out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const std::size_t mean = seen_bytes_[c] / std::max<std::uint64_t>(seen_rows_, 1);
    const std::size_t wanted = fit == 1 ? 0 : static_cast<std::size_t>(fit) * (mean + mean / 4);
    out.emplace_back(account_, fit, wanted + (fit == 1 ? 0 : 2 * TarReader::kBlock));
  }
  return out;
}

// What was read of a sample when the last chunk ended goes first.
Status TarSamples::bring_back(std::vector<StringRows>& out) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (carried_[c].has_value()) SW_RETURN_IF_ERROR(out[c].add(carried_[c].string_at(0)).status());
  }
  carried_.assign(columns_.size(), Tensor());
  return {};
}

// The whole samples; what there is of one more is carried.
std::vector<Tensor> TarSamples::take(std::vector<StringRows>& out) {
  const std::int64_t rows = out[key_column_].count();
  std::vector<Tensor> made;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (out[c].count() == 0) continue;
    const Tensor all = out[c].take();
    if (all.count() > rows) carried_[c] = all.row(rows);
    if (rows > 0) made.push_back(all.slice(0, rows));
  }
  return made;
}

Result<std::vector<Tensor>> TarSamples::read(std::int64_t rows, std::size_t bytes) {
  std::vector<StringRows> out = make_columns(rows, bytes);
  SW_RETURN_IF_ERROR(bring_back(out));
  for (;;) {
    auto stepped = step(out);
    if (stepped.ok() && stepped.value() == Step::kOn) continue;
    std::vector<Tensor> made = take(out);
    // An error behind whole samples is met again when they are gone.
    if (!stepped.ok() && made.empty()) return std::move(stepped).status();
    return made;
  }
}

Result<TarSamples::Step> TarSamples::step(std::vector<StringRows>& out) {
  if (!member_ && !ended_) {
    auto found = next_member();
    if (!found.ok()) {
      if (sample_ && complete() && found.error().kind() == ErrorKind::kData) return finish(out);
      broken_ = true;
      return std::move(found).status();
    }
    if (!found.value()) return Step::kOn;
  }
  if (sample_ && (ended_ || name_->key != sample_->key)) return finish(out);
  if (ended_) return Step::kEnd;
  if (!sample_) sample_.emplace(name_->key, member_->begin, columns_.size());
  return add(out);
}

// False: it is no part of a sample.
Result<bool> TarSamples::next_member() {
  SW_ASSIGN(member_, archive_.next());
  ended_ = !member_;
  if (ended_) return true;
  name_ = member_->regular ? sample_name(member_->name) : std::nullopt;
  if (!name_) member_.reset();
  return member_.has_value();
}

Result<TarSamples::Step> TarSamples::finish(std::vector<StringRows>& out) {
  StringRows& keys = out[key_column_];
  if (!sample_->error.ok() || !complete()) {
    if (keys.count() > 0) return Step::kFull;
    Status error = sample_->error.ok() ? missing() : sample_->error;
    sample_.reset();
    carried_.assign(columns_.size(), Tensor());
    for (StringRows& column : out) {
      if (column.count() > 0) (void)column.take();
    }
    broken_ = false;
    return error;
  }
  SW_ASSIGN(const bool added, keys.add(sample_->key));
  if (!added) return Step::kFull;
  seen_bytes_[key_column_] += sample_->key.size();
  ++seen_rows_;
  sample_.reset();
  return keys.full() ? Step::kFull : Step::kOn;
}

// The member at hand to its column.
Result<TarSamples::Step> TarSamples::add(std::vector<StringRows>& out) {
  const auto at = std::ranges::lower_bound(columns_, name_->extension);
  const auto c = static_cast<std::size_t>(at - columns_.begin());
  const bool known = at != columns_.end() && *at == name_->extension && c != key_column_;
  const bool twice = known && sample_->found[c];
  if (sample_->error.ok() && (twice || (!known && exact_))) {
    sample_->error = corrupt_file(
        archive_.path(), member_->begin, "sample '", sample_->key, "' at ", sample_->begin, " in ",
        archive_.path(), ": expected the extensions ", joined(columns_), ", found ",
        twice ? "a second " : "", name_->extension, " ('", member_->name, "')");
  }
  if (known && sample_->error.ok()) {
    auto added = archive_.read(*member_, out[c]);
    if (!added.ok() && added.error().info().type == "ElementTooLarge") {
      sample_->error = std::move(added).status();
      sample_->error.edit().file = archive_.path();
      sample_->error.edit().offset = static_cast<std::int64_t>(member_->begin);
    } else if (!added.ok()) {
      broken_ = true;
      return std::move(added).status();
    } else if (!added.value()) {
      return Step::kFull;
    } else {
      sample_->found[c] = true;
      seen_bytes_[c] += member_->size;
    }
  }
  if (sample_->extensions.size() < kMostWords) {
    sample_->extensions += (sample_->extensions.empty() ? "" : ", ") + name_->extension;
  }
  member_.reset();
  return Step::kOn;
}

bool TarSamples::complete() const {
  if (!sample_->error.ok()) return false;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (c != key_column_ && !sample_->found[c]) return false;
  }
  return true;
}

Status TarSamples::missing() const {
  return corrupt_file(archive_.path(), sample_->begin, "sample '", sample_->key, "' at ",
                      sample_->begin, " in ", archive_.path(), ": expected the extensions ",
                      joined(columns_), ", found ", sample_->extensions);
}

Result<bool> TarSamples::resynchronise() {
  SW_ASSIGN(const bool found, archive_.resynchronise());
  member_.reset();
  sample_.reset();
  carried_.assign(columns_.size(), Tensor());
  broken_ = !found;
  return found;
}

}  // namespace spillway
