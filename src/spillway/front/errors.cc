#include "spillway/errors.h"

namespace spillway {

std::string describe(const Status& status) {
  if (status.ok()) return "ok";
  const ErrorInfo& info = status.info();
  std::string text = std::string(to_string(info.code)) + ": " + info.message;
  if (!info.stage.empty()) text += "\n  in " + info.stage;
  if (!info.line.empty()) text += "\n  written at " + info.line;
  if (info.index >= 0) text += "\n  element " + std::to_string(info.index) + " of its input";
  if (!info.origin.empty()) text += "\n  from " + info.origin;
  if (!info.file.empty()) {
    text += "\n  in file " + info.file;
    if (info.offset >= 0) text += " at byte " + std::to_string(info.offset);
  }
  return text;
}

}  // namespace spillway
