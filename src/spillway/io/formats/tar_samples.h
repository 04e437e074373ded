#pragma once

#include <optional>
#include <string>
#include <vector>

#include "spillway/io/formats/tar.h"
#include "spillway/tensor/tensor.h"

namespace spillway {

inline constexpr std::string_view kSampleKey = "__key__";

// "a/b.seg.png" is key "a/b" and extension "seg.png", in lower case: the name up to the first dot
// behind its last slash, as WebDataset has it. Nothing for a member that is no part of a sample: a
// name without an extension, or one in a folder like "__meta__".
struct SampleName {
  std::string key;
  std::string extension;
};
std::optional<SampleName> sample_name(std::string_view member);

// The extensions of the first sample of an archive, sorted; none where it has no samples.
Result<std::vector<std::string>> first_sample(std::unique_ptr<ByteStream> stream);

// The samples of a tar archive as columns of strings: members that follow each other and have the
// same key are one. Contents go from the file to their column. One thread.
class TarSamples {
 public:
  // `columns`: sorted extensions and kSampleKey. `exact`: a sample with others is an error, else
  // they are passed over.
  TarSamples(std::unique_ptr<ByteStream> stream, AccountPtr account,
             std::vector<std::string> columns, bool exact);

  // Up to `rows` samples of about `bytes`, a tensor [samples] for each column; none at the end. An
  // error stands for one sample: an extension is missing, there twice or not expected, a member
  // does not fit the budget, or the archive is damaged (broken()). Whole samples before it come
  // first, one that ends where the damage begins too. An error for want of memory passes nothing.
  Result<std::vector<Tensor>> read(std::int64_t rows, std::size_t bytes);
  // After an error: the rest of the archive cannot be read, unless resynchronise() finds a header.
  bool broken() const { return broken_; }
  Result<bool> resynchronise();

  // Where the sample begins that is next.
  std::uint64_t position() const;
  void seek(std::uint64_t position) { archive_.seek(position); }

 private:
  struct Sample {
    Sample(std::string name, std::uint64_t at, std::size_t columns)
        : key(std::move(name)), begin(at), found(columns) {}
    std::string key;
    std::uint64_t begin;
    std::vector<bool> found;  // by column
    std::string extensions;   // in words, as many as fit a message
    Status error;             // why it is not handed out
  };
  enum class Step : std::uint8_t { kOn, kFull, kEnd };

  std::vector<StringRows> make_columns(std::int64_t rows, std::size_t bytes) const;
  Status bring_back(std::vector<StringRows>& out);
  std::vector<Tensor> take(std::vector<StringRows>& out);
  Result<Step> step(std::vector<StringRows>& out);
  Result<bool> next_member();
  Result<Step> finish(std::vector<StringRows>& out);
  Result<Step> add(std::vector<StringRows>& out);
  bool complete() const;
  Status missing() const;

  TarReader archive_;
  const AccountPtr account_;
  const std::vector<std::string> columns_;
  const std::size_t key_column_;
  const bool exact_;
  std::optional<TarMember> member_;  // read of its header, not in a column yet
  std::optional<SampleName> name_;   // of it
  std::optional<Sample> sample_;     // begun
  std::vector<Tensor> carried_;      // by column: of sample_, when a chunk ended within it
  bool ended_ = false;
  bool broken_ = false;
  std::vector<std::uint64_t> seen_bytes_;  // by column: what to expect
  std::uint64_t seen_rows_ = 0;
};

}  // namespace spillway
