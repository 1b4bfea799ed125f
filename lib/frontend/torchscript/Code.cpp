// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Code.h"
#include "frontend/common/ImportError.h"
#include "frontend/pickle/Pickle.h"
#include "frontend/torchscript/Lexer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace accc;
using namespace accc::torchscript;
using frontend::ImportError;
using llvm::StringRef;
using llvm::Twine;

// Far beyond the code of any model.
static constexpr uint64_t kLargestFile = uint64_t(1) << 26;

const File *Code::findFile(StringRef module) {
  if (auto known = files.find(module); known != files.end())
    return known->second.get();
  std::string path = "code/";
  for (char c : module)
    path += c == '.' ? '/' : c;
  path += ".py";
  std::unique_ptr<const File> file;
  if (archive.has(path))
    file = parseFile(path, archive.text(path, kLargestFile));
  return (files[module.str()] = std::move(file)).get();
}

/// The entry of a table by the last part of a name, in the file that the others name.
template <typename T> static const T *last(const std::map<std::string, T> &table, StringRef name) {
  auto found = table.find(name.str());
  return found == table.end() ? nullptr : &found->second;
}

const Class *Code::findClass(StringRef name) {
  auto [module, symbol] = name.rsplit('.');
  const File *file = findFile(module);
  return file ? last(file->classes, symbol) : nullptr;
}

const Function *Code::findFunction(StringRef name) {
  auto [module, symbol] = name.rsplit('.');
  const File *file = findFile(module);
  return file ? last(file->functions, symbol) : nullptr;
}

// ---- the author's source ----

/// "model.py, line 12" of ((text, file name, first line), begin, end), where all texts are indices
/// into a table; empty where the file is not known.
static std::string placeOf(const pickle::Value &range,
                           llvm::ArrayRef<const pickle::Value *> strings) {
  auto string = [&](const pickle::Value *index) -> const std::string & {
    int64_t at = index->asInteger("an index of a text");
    if (at < 0 || static_cast<uint64_t>(at) >= strings.size())
      frontend::fail("a text is missing");
    return strings[static_cast<size_t>(at)]->asString("a text");
  };
  auto fields = range.asSequence("a range");
  if (fields.size() != 3)
    return "";
  auto source = fields[0]->asSequence("a source");
  if (source.size() != 3 || !source[0]->is(pickle::Value::Kind::Call) ||
      source[0]->elements.size() != 1)
    return "";
  const std::string &path = string(source[1]);
  if (path.empty())
    return "";
  int64_t line = source[2]->asInteger("a line"), rest = fields[1]->asInteger("a position");
  for (const pickle::Value *piece : source[0]->elements[0]->asSequence("a text")) {
    const std::string &text = string(piece);
    line += StringRef(text).take_front(static_cast<size_t>(std::max<int64_t>(rest, 0))).count('\n');
    rest -= static_cast<int64_t>(text.size());
    if (rest <= 0)
      break;
  }
  return (llvm::sys::path::filename(path) + ", line " + Twine(line)).str();
}

/// (FORMAT_WITH_STRING_TABLE, texts, (position, range, tag)...)
std::vector<Code::Source> Code::readSources(const File &file) {
  std::vector<Source> result;
  std::string record = file.path + ".debug_pkl";
  if (!archive.has(record))
    return result;
  try {
    frontend::Archive::Record bytes = archive.read(record, kLargestFile);
    pickle::Document document(bytes.bytes, record);
    auto table = document.root().asSequence("the table");
    if (table.size() != 3 || table[0]->text != "FORMAT_WITH_STRING_TABLE")
      return result;
    auto strings = table[1]->asSequence("the texts");
    for (const pickle::Value *entry : table[2]->asSequence("the ranges")) {
      auto fields = entry->asSequence("a range");
      if (fields.size() < 2)
        continue;
      std::string place = placeOf(*fields[1], strings);
      result.push_back({static_cast<size_t>(fields[0]->asInteger("a position")), place});
    }
  } catch (const ImportError &) {
    return {}; // only for messages
  }
  return result;
}

std::string Code::sourceOf(const File &file, size_t position) {
  auto [known, isNew] = sources.insert({&file, {}});
  if (isNew)
    known->second = readSources(file);
  auto after = llvm::upper_bound(known->second, position,
                                 [](size_t at, const Source &source) { return at < source.begin; });
  // The nearest known piece that begins on the same line.
  size_t line = StringRef(file.text).take_front(position).rfind('\n') + 1;
  while (after != known->second.begin() && (--after)->begin >= line)
    if (!after->place.empty())
      return after->place;
  return file.path + ", line " + std::to_string(lineOf(file.text, position));
}
