// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that all commands have, and what is said of a command line that is wrong.
#include "Command.h"

#include "support/Log.h"
#include "support/Suggest.h"

#include <algorithm>

using namespace accc;
using namespace accc::tool;

static std::string join(const std::vector<std::string> &list) {
  return CLI::detail::join(list, ", ");
}

CLI::Validator tool::oneOf(std::vector<std::string> names) {
  return CLI::Validator(
      [names = std::move(names)](std::string &text) {
        return std::ranges::find(names, text) != names.end()
                   ? std::string()
                   : "there is no '" + text + "'; there are " + join(names) +
                         didYouMean(text, names);
      },
      "");
}

CLI::Option *tool::addList(CLI::App &command, const std::string &option,
                           std::vector<std::string> &list, const std::string &description,
                           std::vector<std::string> names) {
  auto read = [&list, option, names = std::move(names)](const std::vector<std::string> &values) {
    list.clear(); // of its default
    for (const std::string &value : values)
      for (std::string &part : splitList(option, value)) {
        if (std::string wrong = names.empty() ? "" : oneOf(names)(part); !wrong.empty())
          throw CLI::ValidationError(option, wrong);
        list.push_back(std::move(part));
      }
  };
  return command.add_option_function<std::vector<std::string>>(option, read, description)
      ->allow_extra_args(false);
}

void tool::addMessageOptions(CLI::App &command) {
  constexpr const char *kGroup = "Messages";
  command
      .add_flag_function(
          "-v,--verbose",
          [](int64_t count) { setLogLevel(count > 1 ? LogLevel::Debug : LogLevel::Note); },
          "Print notes; -vv: also progress and phase times")
      ->group(kGroup);
  command
      .add_flag_callback(
          "-q,--quiet", [] { setLogLevel(LogLevel::Error); }, "Print errors only")
      ->group(kGroup);
  command
      .add_option_function<std::string>(
          "--log-level",
          [](const std::string &name) {
            auto found = std::ranges::find(logLevelNames(), name);
            setLogLevel(static_cast<LogLevel>(found - logLevelNames().begin()));
          },
          "error, warning, note or debug (default: warning)")
      ->type_name("LEVEL")
      ->check(oneOf(logLevelNames()))
      ->group(kGroup);
}

/// "-D" and "--loss" of "--loss=mse".
static bool isOption(const std::string &argument) {
  return argument.size() > 1 && argument[0] == '-' && !std::isdigit(argument[1]);
}

/// The long names of a command's options.
static std::vector<std::string> optionNames(const CLI::App &command) {
  std::vector<std::string> names;
  for (const CLI::Option *option : command.get_options())
    for (const std::string &name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

std::string tool::describeEmpty(const CLI::App &app) {
  for (const CLI::App *command : app.get_subcommands())
    for (const CLI::Option *option : command->get_options())
      if (std::ranges::any_of(option->results(), [](const auto &text) { return text.empty(); }))
        return command->get_name() + ": " + option->get_name() +
               " is given an empty value, as of a variable of a shell that is not set; give it a "
               "value, or leave it out";
  return "";
}

static std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands([](const CLI::App *) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// What is wrong with the arguments that no command took; empty where it is something else.
static std::string describeUnknown(const CLI::App &app, const CLI::App *command) {
  std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
  // Whose command is wrong has options that are perhaps right.
  auto name = std::ranges::find_if_not(unknown, isOption);
  if (!command && name != unknown.end())
    return "there is no command '" + *name + "'; there are " + join(commandNames(app)) +
           didYouMean(*name, commandNames(app));
  for (const std::string &argument : unknown)
    if (isOption(argument)) {
      const CLI::App &owner = command ? *command : app;
      std::string option = argument.substr(0, argument.find('='));
      if (command && command->get_option_no_throw(option))
        return option + " is an option of the command: write it after '" + command->get_name() +
               "'";
      return "there is no option " + option + didYouMean(option, optionNames(owner));
    }
  if (!command)
    return "a command is missing: " + join(commandNames(app));
  return unknown.empty() ? "" : "unexpected argument '" + unknown.front() + "'";
}

std::string tool::describeUsage(const CLI::App &app, const CLI::ParseError &error) {
  std::vector<CLI::App *> commands = const_cast<CLI::App &>(app).get_subcommands();
  const CLI::App *command = commands.empty() ? nullptr : commands.front();
  std::string message;
  // An option that nobody knows may have left its value where the model is expected.
  if (dynamic_cast<const CLI::RequiredError *>(&error) ||
      dynamic_cast<const CLI::ExtrasError *>(&error))
    message = describeUnknown(app, command);
  if (message.empty())
    message = error.what();
  std::string name = command ? command->get_name() : "";
  return (name.empty() ? "" : name + ": ") + message;
}
