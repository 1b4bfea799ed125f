// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Log.h"

#include "support/PrintableText.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <unistd.h>

using namespace accc;

namespace {

constexpr spdlog::level::level_enum kLevels[] = {spdlog::level::err, spdlog::level::warn,
                                                 spdlog::level::info, spdlog::level::debug};

/// The level by our names.
class LevelName final : public spdlog::custom_flag_formatter {
public:
  void format(const spdlog::details::log_msg &message, const std::tm &,
              spdlog::memory_buf_t &to) override {
    for (size_t i = 0; i < std::size(kLevels); ++i)
      if (kLevels[i] == message.level)
        to.append(logLevelNames()[i].data(), logLevelNames()[i].data() + logLevelNames()[i].size());
  }
  std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<LevelName>();
  }
};

/// The variable's value; empty where it is not set.
std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

bool wantsColors() {
  if (!environment("NO_COLOR").empty())
    return false;
  std::string force = environment("CLICOLOR_FORCE"), terminal = environment("TERM");
  if (!force.empty() && force != "0")
    return true;
  return isatty(STDERR_FILENO) && !terminal.empty() && terminal != "dumb";
}

spdlog::logger &logger() {
  static spdlog::logger logger = [] {
    auto sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
    sink->set_color_mode(wantsColors() ? spdlog::color_mode::always : spdlog::color_mode::never);
    sink->set_color(spdlog::level::err, sink->red_bold);
    sink->set_color(spdlog::level::warn, sink->yellow_bold);
    sink->set_color(spdlog::level::info, sink->cyan);
    auto formatter = std::make_unique<spdlog::pattern_formatter>();
    formatter->add_flag<LevelName>('*').set_pattern("%n: %^%*:%$ %v");
    sink->set_formatter(std::move(formatter));
    spdlog::logger made("accc", std::move(sink));
    made.set_level(spdlog::level::warn);
    return made;
  }();
  return logger;
}

} // namespace

const std::vector<std::string> &accc::logLevelNames() {
  static const std::vector<std::string> names = {"error", "warning", "note", "debug"};
  return names;
}

void accc::setLogLevel(LogLevel level) { logger().set_level(kLevels[static_cast<int>(level)]); }

bool accc::isLogged(LogLevel level) {
  return logger().should_log(kLevels[static_cast<int>(level)]);
}

void accc::log(LogLevel level, const std::string &text) {
  if (!isLogged(level))
    return;
  std::string lines = printable(text);
  for (size_t at = lines.find('\n'); at != lines.npos; at = lines.find('\n', at + 1))
    if (lines.compare(at + 1, 2, "  ") != 0)
      lines.insert(at + 1, "  ");
  logger().log(kLevels[static_cast<int>(level)], spdlog::string_view_t(lines));
}

bool accc::flushOutput() {
  errno = 0;
  std::cout.flush();
  bool written = std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout;
  if (!written)
    log(LogLevel::Error, std::string("cannot write to standard output: ") +
                             (errno ? std::strerror(errno) : "an earlier write failed"));
  return written;
}
