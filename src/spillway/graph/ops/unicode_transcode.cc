#include <algorithm>

#include "spillway/base/hex.h"
#include "spillway/base/utf8.h"
#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

enum class Encoding : std::uint8_t { kUtf8, kUtf16, kUtf32, kLatin1, kAscii };

struct Form {
  Encoding encoding = Encoding::kUtf8;
  bool little = false;
  bool marked = false;  // a byte order mark at the beginning decides, and is left out
};

// Names as ICU compares them: without case, dashes, underscores and spaces.
std::string plain_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ' ') continue;
    out += static_cast<char>(c >= 'a' && c <= 'z' ? c - 0x20 : c);
  }
  return out;
}

Result<Form> input_form(std::string_view name) {
  static constexpr std::pair<std::string_view, Form> kForms[] = {
      {"UTF8", {}},
      {"UTF16BE", {Encoding::kUtf16}},
      {"UTF16LE", {Encoding::kUtf16, true}},
      {"UTF16", {Encoding::kUtf16, false, true}},
      {"UTF32BE", {Encoding::kUtf32}},
      {"UTF32LE", {Encoding::kUtf32, true}},
      {"UTF32", {Encoding::kUtf32, false, true}},
      {"ISO88591", {Encoding::kLatin1}},
      {"LATIN1", {Encoding::kLatin1}},
      {"USASCII", {Encoding::kAscii}},
      {"ASCII", {Encoding::kAscii}}};
  const std::string plain = plain_name(name);
  for (const auto& [known, form] : kForms) {
    if (known == plain) return form;
  }
  return invalid_argument("Could not create converter for input encoding: ", name,
                          "; those here are UTF-8, UTF-16, UTF-16-BE, UTF-16-LE, UTF-32, "
                          "UTF-32-BE, UTF-32-LE, ISO-8859-1 and US-ASCII");
}

Result<Encoding> output_form(std::string_view name) {
  if (name == "UTF-8") return Encoding::kUtf8;
  if (name == "UTF-16-BE") return Encoding::kUtf16;
  if (name == "UTF-32-BE") return Encoding::kUtf32;
  return invalid_argument("Value for attr 'output_encoding' of \"", name,
                          "\" is not in the list of allowed values: \"UTF-8\", \"UTF-16-BE\", "
                          "\"UTF-32-BE\"");
}

// Reads a text character by character.
class Reader {
 public:
  Reader(std::string_view text, Form form) : text_(text), form_(form) {
    if (form.marked) read_mark();
  }
  bool more() const { return at_ < text_.size(); }
  std::size_t at() const { return at_; }
  std::string_view rest() const { return text_.substr(at_); }
  void pass(std::size_t bytes) { at_ += bytes; }

  Utf8Character next() {
    Utf8Character out = look();
    at_ += out.bytes;
    return out;
  }

 private:
  Utf8Character look() const {
    switch (form_.encoding) {
      case Encoding::kUtf8:
        return utf8_character(rest());
      case Encoding::kUtf16:
        return wide();
      case Encoding::kUtf32:
        return full();
      case Encoding::kLatin1:
        return {number(at_, 1), 1, true};
      case Encoding::kAscii: {
        const std::uint32_t code = number(at_, 1);
        return code < 0x80 ? Utf8Character{code, 1, true} : Utf8Character{};
      }
    }
    return {};
  }
  Utf8Character wide() const {
    if (text_.size() - at_ < 2) return ended();
    const std::uint32_t first = number(at_, 2);
    if (first < 0xD800 || first > 0xDFFF) return {first, 2, true};
    if (first > 0xDBFF) return {kReplacementCharacter, 2};
    if (text_.size() - at_ < 4) {
      Utf8Character out = ended();
      out.bytes = static_cast<std::uint8_t>(text_.size() - at_);
      return out;
    }
    const std::uint32_t second = number(at_ + 2, 2);
    if (second < 0xDC00 || second > 0xDFFF) return {kReplacementCharacter, 2};
    return {0x10000 + ((first & 0x3FFU) << 10U) + (second & 0x3FFU), 4, true};
  }
  Utf8Character full() const {
    if (text_.size() - at_ < 4) return ended();
    const std::uint32_t code = number(at_, 4);
    const bool good = code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return {good ? code : kReplacementCharacter, 4, good};
  }
  Utf8Character ended() const {
    return {kReplacementCharacter, static_cast<std::uint8_t>(text_.size() - at_), false, true};
  }
  std::uint32_t number(std::size_t at, std::size_t bytes) const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
      const std::size_t from = form_.little ? at + bytes - 1 - i : at + i;
      out = out << 8U | static_cast<unsigned char>(text_[from]);
    }
    return out;
  }
  void read_mark() {
    constexpr std::uint32_t kMark = 0xFEFF;
    const std::size_t bytes = form_.encoding == Encoding::kUtf16 ? 2 : 4;
    if (text_.size() < bytes) return;
    for (const bool little : {false, true}) {
      form_.little = little;
      if (number(0, bytes) == kMark) {
        at_ = bytes;
        return;
      }
    }
    form_.little = false;
  }

  const std::string_view text_;
  Form form_;
  std::size_t at_ = 0;
};

void append_big_endian(std::uint32_t value, int bytes, std::string& out) {
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
}

void append(std::uint32_t code, Encoding encoding, std::string& out) {
  if (encoding == Encoding::kUtf32) {
    append_big_endian(code, 4, out);
  } else if (encoding == Encoding::kUtf8) {
    const bool surrogate = code >= 0xD800 && code <= 0xDFFF;  // chosen as the replacement
    append_utf8(surrogate ? kReplacementCharacter : code, out);
  } else if (code < 0x10000) {
    append_big_endian(code, 2, out);
  } else {
    append_big_endian(0xD800 + ((code - 0x10000) >> 10U), 2, out);
    append_big_endian(0xDC00 + (code & 0x3FFU), 2, out);
  }
}

enum class OnBad : std::uint8_t { kStrict, kReplace, kIgnore };

struct Transcoding {
  Form from;
  Encoding to = Encoding::kUtf8;
  std::string_view from_name;
  OnBad errors = OnBad::kReplace;
  std::uint32_t replacement = kReplacementCharacter;
  bool replaces_controls = false;
};

Result<Transcoding> transcoding_of(const Attrs& attrs) {
  Transcoding out;
  const auto* const from = attrs.get<std::string>("input_encoding");
  out.from_name = from == nullptr ? std::string_view() : *from;
  SW_ASSIGN(out.from, input_form(out.from_name));
  SW_ASSIGN(out.to, output_form(attrs.get_or("output_encoding", std::string())));
  const std::string errors = attrs.get_or("errors", std::string("replace"));
  if (errors == "strict") {
    out.errors = OnBad::kStrict;
  } else if (errors == "ignore") {
    out.errors = OnBad::kIgnore;
  } else if (errors != "replace") {
    return invalid_argument("Value for attr 'errors' of \"", errors,
                            "\" is not in the list of allowed values: \"strict\", \"replace\", "
                            "\"ignore\"");
  }
  const auto character = attrs.get_or("replacement_char", std::int64_t{kReplacementCharacter});
  if (character < 0 || character > 0x10FFFF) {
    return invalid_argument("replacement_char out of unicode codepoint range: ", character);
  }
  out.replacement = static_cast<std::uint32_t>(character);
  out.replaces_controls = attrs.get_or("replace_control_characters", false);
  return out;
}

// Begins in TensorFlow's words.
Status invalid(const Transcoding& how, std::string_view text, std::size_t at,
               const Utf8Character& found) {
  const std::string bytes = in_hex(text.substr(at, found.bytes));
  Status status =
      found.good ? bad_data(Code::kInvalidArgument,
                            "Invalid formatting on input string: expected no control characters, "
                            "found ",
                            bytes, " at byte ", at, " of ", text.size())
      : found.cut
          ? bad_data(Code::kInvalidArgument,
                     "Invalid formatting on input string: it ends inside a character of ",
                     how.from_name, ": found ", bytes, " at byte ", at, " of ", text.size())
          : bad_data(Code::kInvalidArgument, "Invalid formatting on input string: expected ",
                     how.from_name, ", found ", bytes, " at byte ", at, " of ", text.size());
  status.edit().offset = static_cast<std::int64_t>(at);
  return status;
}

Status transcode(const Transcoding& how, std::string_view text, std::string& out) {
  const bool same = how.from.encoding == Encoding::kUtf8 && how.to == Encoding::kUtf8;
  Reader in(text, how.from);
  while (in.more()) {
    if (same && !how.replaces_controls) {
      const std::size_t plain = ascii_length(in.rest());
      out += in.rest().substr(0, plain);
      in.pass(plain);
      if (!in.more()) break;
    }
    const std::size_t at = in.at();
    const Utf8Character next = in.next();
    if (next.good && !(how.replaces_controls && next.code < 0x20)) {
      append(next.code, how.to, out);
    } else if (how.errors == OnBad::kStrict) {
      return invalid(how, text, at, next);
    } else if (how.errors == OnBad::kReplace) {
      append(how.replacement, how.to, out);
    }
  }
  return {};
}

Status infer(Infer& c) {
  SW_RETURN_IF_ERROR(transcoding_of(c.attrs()).status());
  return infer_string_map(c);
}

Status compute(Compute& c) {
  SW_ASSIGN(const Transcoding how, transcoding_of(c.attrs));
  return map_strings(
      c, [&](std::string_view item, std::string& text) { return transcode(how, item, text); });
}

constexpr ParamDef kParams[] = {{"input", ParamKind::kTensor, "", 's'},
                                {"input_encoding", ParamKind::kString},
                                {"output_encoding", ParamKind::kString},
                                {"errors", ParamKind::kString, "'replace'"},
                                {"replacement_char", ParamKind::kInt, "65533"},
                                {"replace_control_characters", ParamKind::kBool, "False"}};

}  // namespace

extern constexpr OpDef unicode_transcode_op{
    .name = "unicode_transcode",
    .summary = "Text in another encoding; what is not text is replaced, left out or an error.",
    .params = kParams,
    .paths = "strings.unicode_transcode",
    .effect = Effect::kFallible,
    .infer = infer,
    .compute = compute,
    .per_item = true};

}  // namespace spillway::graph
