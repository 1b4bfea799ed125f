// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SafetensorsHeader.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <tuple>

namespace accc::detail {

namespace {

constexpr std::string_view metadataKey = "__metadata__";

[[noreturn]] void fail(const std::string &path, const std::string &what) {
  throw Error(ErrorKind::data, path + ": not a valid safetensors file: " + what);
}

std::string inQuotes(std::string_view name) { return "\"" + std::string(name) + "\""; }

/// A tensor as the header spells it, before its numbers are checked against each other.
struct RawEntry {
  std::string name;
  std::optional<std::string> dtype;
  std::optional<std::vector<uint64_t>> shape, offsets;
};

/// Receives the JSON token by token. A tree would keep only the last of several equal keys, and
/// which one wins differs between parsers: a file could be two different ones to two readers.
class HeaderHandler : public nlohmann::json_sax<nlohmann::json> {
public:
  HeaderHandler(const std::string &path, std::vector<RawEntry> &entries, Metadata &metadata)
      : path(path), entries(entries), metadata(metadata) {}

  bool start_object(size_t) override {
    switch (state) {
    case State::start:
      state = State::top;
      return true;
    case State::topValue:
      state = topKey == metadataKey ? State::metadata : State::entry;
      if (state == State::entry)
        entries.push_back({topKey, {}, {}, {}});
      return true;
    default:
      unexpected("an object");
    }
  }

  bool key(string_t &text) override {
    switch (state) {
    case State::top:
      if (!topKeys.insert(text).second)
        fail(path, "the key " + inQuotes(text) + " appears twice");
      topKey = text;
      state = State::topValue;
      return true;
    case State::metadata:
      if (metadata.count(text))
        fail(path, "__metadata__ holds the key " + inQuotes(text) + " twice");
      field = text;
      state = State::metadataValue;
      return true;
    case State::entry:
      return entryField(text);
    default:
      unexpected("a key");
    }
  }

  bool end_object() override {
    if (state == State::entry) {
      const RawEntry &entry = entries.back();
      if (!entry.dtype || !entry.shape || !entry.offsets)
        fail(path, "tensor " + inQuotes(entry.name) + " lacks \"" +
                       (!entry.dtype   ? "dtype"
                        : !entry.shape ? "shape"
                                       : "data_offsets") +
                       "\"");
    }
    state = state == State::top ? State::done : State::top;
    return true;
  }

  bool string(string_t &text) override {
    if (state == State::metadataValue) {
      metadata.emplace(field, text);
      state = State::metadata;
      return true;
    }
    if (state != State::dtype)
      unexpected("a string");
    entries.back().dtype = text;
    state = State::entry;
    return true;
  }

  bool start_array(size_t) override {
    if (state != State::shape && state != State::offsets)
      unexpected("an array");
    state = state == State::shape ? State::shapeItems : State::offsetItems;
    numbers().emplace();
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (state != State::shapeItems && state != State::offsetItems)
      unexpected("a number");
    numbers()->push_back(value);
    return true;
  }

  bool end_array() override {
    state = State::entry;
    return true;
  }

  bool number_integer(number_integer_t value) override {
    fail(path, where() + "the negative number " + std::to_string(value) +
                   " where a size or offset is expected");
  }
  bool number_float(number_float_t, const string_t &text) override {
    fail(path, where() + "the number " + text + " where a size or offset below 2^64 is expected");
  }
  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a boolean"); }
  bool binary(binary_t &) override { unexpected("binary data"); }
  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &error) override {
    // Without the parser's "[json.exception.parse_error.101]".
    std::string text = error.what();
    size_t bracket = text.find("] ");
    fail(path, "its header is no JSON at byte " + std::to_string(position) + ": " +
                   (bracket == std::string::npos ? text : text.substr(bracket + 2)));
  }

private:
  enum class State {
    start,
    top,
    topValue,
    entry,
    dtype,
    shape,
    shapeItems,
    offsets,
    offsetItems,
    metadata,
    metadataValue,
    done
  };

  std::optional<std::vector<uint64_t>> &numbers() {
    RawEntry &entry = entries.back();
    return state == State::shapeItems ? entry.shape : entry.offsets;
  }

  bool entryField(const std::string &text) {
    RawEntry &entry = entries.back();
    bool known = text == "dtype" || text == "shape" || text == "data_offsets";
    if (!known)
      fail(path, where() + "the unknown key " + inQuotes(text));
    bool repeated = text == "dtype"   ? entry.dtype.has_value()
                    : text == "shape" ? entry.shape.has_value()
                                      : entry.offsets.has_value();
    if (repeated)
      fail(path, where() + "the key " + inQuotes(text) + " twice");
    state = text == "dtype" ? State::dtype : text == "shape" ? State::shape : State::offsets;
    return true;
  }

  std::string where() const {
    if (topKey.empty() && entries.empty())
      return "its header holds ";
    return (topKey == metadataKey ? topKey : "tensor " + inQuotes(topKey)) + " holds ";
  }
  [[noreturn]] void unexpected(const std::string &what) const {
    fail(path, where() + what + " where the format has none");
  }

  const std::string &path;
  std::vector<RawEntry> &entries;
  Metadata &metadata;
  std::set<std::string, std::less<>> topKeys;
  std::string topKey, field;
  State state = State::start;
};

SafetensorsEntry checkEntry(const RawEntry &raw, uint64_t dataBytes, const std::string &path) {
  const std::string tensor = "tensor " + inQuotes(raw.name);
  std::optional<DType> type = dtype_of_safetensors_name(*raw.dtype);
  if (!type)
    throw Error(ErrorKind::data, path + ": " + tensor + " has the type " + inQuotes(*raw.dtype) +
                                     ", which accc does not know");
  uint64_t bytes = size_of(*type);
  Shape shape;
  for (uint64_t extent : *raw.shape) {
    if (extent > static_cast<uint64_t>(INT64_MAX) || __builtin_mul_overflow(bytes, extent, &bytes))
      fail(path, tensor + ": its shape overflows 64 bits");
    shape.push_back(static_cast<int64_t>(extent));
  }
  if (raw.offsets->size() != 2)
    fail(path, tensor + ": data_offsets has " + std::to_string(raw.offsets->size()) +
                   " numbers where there must be 2");
  uint64_t begin = (*raw.offsets)[0], end = (*raw.offsets)[1];
  if (begin > end)
    fail(path, tensor + ": data_offsets begins at " + std::to_string(begin) +
                   ", after its end at " + std::to_string(end));
  if (end > dataBytes)
    fail(path, tensor + " ends at byte " + std::to_string(end) + " of the data, but there are " +
                   std::to_string(dataBytes) + " (is the file truncated?)");
  if (end - begin != bytes)
    fail(path, tensor + " is " + to_string(*type, shape) + ", which takes " +
                   std::to_string(bytes) + " bytes, but data_offsets gives it " +
                   std::to_string(end - begin));
  return {raw.name, *type, std::move(shape), begin, end};
}

/// Every byte of the data belongs to exactly one tensor.
void checkCover(const std::vector<SafetensorsEntry> &entries, uint64_t dataBytes,
                const std::string &path) {
  uint64_t position = 0;
  for (const SafetensorsEntry &entry : entries) {
    if (entry.begin != position)
      fail(path, "tensor " + inQuotes(entry.name) + " begins at byte " +
                     std::to_string(entry.begin) + " of the data, " +
                     (entry.begin < position ? "inside another tensor" : "after a hole") +
                     " (expected " + std::to_string(position) + ")");
    position = entry.end;
  }
  if (position != dataBytes)
    fail(path, std::to_string(dataBytes - position) + " bytes at the end belong to no tensor");
}

std::string jsonString(const std::string &text, const std::string &path) {
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception &) {
    throw Error(ErrorKind::usage,
                "cannot write " + path + ": a name or metadata string is not UTF-8");
  }
}

} // namespace

SafetensorsHeader parseSafetensorsHeader(std::string_view text, uint64_t dataBytes,
                                         const std::string &path) {
  if (text.empty() || text.front() != '{')
    fail(path, "its header does not start with '{'");
  // The JSON parser takes a NUL for the end and would not look at what follows.
  if (size_t nul = text.find('\0'); nul != std::string_view::npos)
    fail(path, "its header is no JSON at byte " + std::to_string(nul) + ": a NUL");
  std::vector<RawEntry> raw;
  SafetensorsHeader header;
  HeaderHandler handler(path, raw, header.metadata);
  nlohmann::json::sax_parse(text.begin(), text.end(), &handler);
  for (const RawEntry &entry : raw)
    header.entries.push_back(checkEntry(entry, dataBytes, path));
  // By end as well, so that an empty tensor may share its offset with the one that starts there.
  std::sort(header.entries.begin(), header.entries.end(),
            [](const SafetensorsEntry &a, const SafetensorsEntry &b) {
              return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
            });
  checkCover(header.entries, dataBytes, path);
  return header;
}

std::string writeSafetensorsHeader(const NamedTensors &tensors, const Metadata &metadata,
                                   const std::string &path) {
  std::string text = "{";
  auto member = [&](const std::string &name) -> std::string & {
    text += text.size() > 1 ? "," : "";
    return text += jsonString(name, path) + ":";
  };
  if (!metadata.empty()) {
    member(std::string(metadataKey)) += "{";
    std::string separator;
    for (const auto &[key, value] : metadata) {
      text += separator + jsonString(key, path) + ":" + jsonString(value, path);
      separator = ",";
    }
    text += "}";
  }
  uint64_t position = 0;
  std::set<std::string_view> names;
  for (const auto &[name, tensor] : tensors) {
    if (name == metadataKey || !names.insert(name).second)
      throw Error(ErrorKind::usage, "cannot write " + path + ": " +
                                        (name == metadataKey ? "a tensor may not be called "
                                                             : "two tensors are called ") +
                                        inQuotes(name));
    nlohmann::json shape(tensor.shape());
    uint64_t end = position + tensor.size_bytes();
    member(name) += "{\"dtype\":\"" + std::string(safetensors_name(tensor.dtype())) +
                    "\",\"shape\":" + (tensor.rank() ? shape.dump() : "[]") +
                    ",\"data_offsets\":[" + std::to_string(position) + "," + std::to_string(end) +
                    "]}";
    position = end;
  }
  text += "}";
  while ((text.size() + sizeof(uint64_t)) % ACCC_ALIGNMENT)
    text += ' ';
  if (text.size() > maxHeaderBytes)
    throw Error(ErrorKind::usage,
                "cannot write " + path + ": the names of its tensors take more than 100 MB");
  return text;
}

} // namespace accc::detail
