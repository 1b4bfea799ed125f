// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What commands ask of the files and numbers that they are given.
#include "Command.h"

#include "accc/links.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <unistd.h>

using namespace accc;
namespace fs = std::filesystem;

void tool::keepApart(const std::vector<std::string> &written,
                     const std::vector<std::string> &read) {
  std::error_code ignored;
  auto isSame = [&](const std::string &a, const std::string &b) {
    if (a.empty() || b.empty())
      return false;
    return fs::equivalent(a, b, ignored) || fs::weakly_canonical(follow_links(a), ignored) ==
                                                fs::weakly_canonical(follow_links(b), ignored);
  };
  for (size_t i = 0; i < written.size(); ++i) {
    for (const std::string &input : read)
      if (isSame(written[i], input))
        throw Error(ErrorKind::usage, written[i] + " would be written over " + input +
                                          ", which the command reads; give it another name");
    for (size_t j = 0; j < i; ++j)
      if (isSame(written[i], written[j]))
        throw Error(ErrorKind::usage, written[i] + " is named for two files");
  }
}

void tool::checkWritable(const std::vector<std::string> &written) {
  for (const std::string &name : written) {
    if (name.empty())
      continue;
    std::error_code ignored;
    if (fs::exists(name, ignored) && !fs::is_regular_file(name, ignored))
      throw Error(ErrorKind::usage, "cannot write " + name + ": it is there and is not a file");
    fs::path folder = fs::path(follow_links(name)).parent_path();
    if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0)
      throw Error(ErrorKind::machine,
                  "cannot write " + name + ": its folder: " + std::strerror(errno));
  }
}

std::vector<std::string> tool::splitList(const std::string &option, const std::string &text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty())
      throw CLI::ValidationError(option, "there is an empty part in '" + text + "'");
    begin = end + 1;
  }
  return parts;
}

CLI::Validator tool::finiteNumber(double least, double most) {
  return CLI::Validator(
      [least, most](std::string &text) -> std::string {
        char *end = nullptr;
        double number = std::strtod(text.c_str(), &end);
        if (*end || text.empty() || !std::isfinite(number))
          return text + " is no finite number";
        return number < least  ? text + " is less than " + CLI::detail::to_string(least)
               : number > most ? text + " is more than " + CLI::detail::to_string(most)
                               : "";
      },
      "FLOAT");
}

std::optional<int64_t> tool::toWholeNumber(const std::string &text) {
  int64_t number = 0;
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

CLI::Validator tool::wholeNumber(int64_t least, int64_t most) {
  return CLI::Validator(
      [least, most](std::string &text) -> std::string {
        std::optional<int64_t> number = toWholeNumber(text);
        if (!number)
          return text + " is no whole number of 64 bits";
        return *number < least  ? text + " is less than " + std::to_string(least)
               : *number > most ? text + " is more than " + std::to_string(most)
                                : "";
      },
      "N");
}
