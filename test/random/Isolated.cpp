// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Isolated.h"

#include "llvm/ADT/StringExtras.h"

#include <csignal>
#include <map>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

constexpr char kSeparator = '\x1f';

std::string encode(const Verdict &outcome) {
  std::string text;
  for (int64_t number : {static_cast<int64_t>(outcome.status), outcome.compared,
                         outcome.illConditioned, outcome.notFinite})
    text += std::to_string(number) + kSeparator;
  return text + outcome.kind + kSeparator + outcome.message;
}

bool decode(StringRef text, Verdict &outcome) {
  SmallVector<StringRef> parts;
  text.split(parts, kSeparator, 5);
  int64_t status;
  if (parts.size() != 6 || parts[0].getAsInteger(10, status) ||
      parts[1].getAsInteger(10, outcome.compared) ||
      parts[2].getAsInteger(10, outcome.illConditioned) ||
      parts[3].getAsInteger(10, outcome.notFinite))
    return false;
  outcome.status = static_cast<Verdict::Status>(status);
  outcome.kind = parts[4].str();
  outcome.message = parts[5].str();
  return true;
}

/// A process that checks one case, and the file that it writes the outcome to.
struct Child {
  int64_t number;
  FILE *file;
};

Verdict outcomeOf(const Child &child, int status) {
  std::string text;
  std::rewind(child.file);
  char buffer[4096];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, child.file))
    text.append(buffer, count);
  std::fclose(child.file);
  Verdict outcome;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && decode(text, outcome))
    return outcome;
  outcome.status = Verdict::Status::Failed;
  if (WIFSIGNALED(status))
    outcome.kind = llvm::is_contained({SIGXCPU, SIGALRM}, WTERMSIG(status))
                       ? "takes too long"
                       : "crash: signal " + std::to_string(WTERMSIG(status));
  else
    outcome.kind = "crash: exit code " + std::to_string(WEXITSTATUS(status));
  return outcome;
}

/// Ends this process after so much processor time. One that waits for ever ends, too, but later: on
/// a loaded machine the time on the clock says little.
void limitTime(int seconds) {
  auto limit = static_cast<rlim_t>(seconds);
  rlimit processor{limit, limit};
  setrlimit(RLIMIT_CPU, &processor);
  alarm(static_cast<unsigned>(seconds) * 10);
}

} // namespace

void accc::test::checkIsolated(int64_t count, const Isolation &isolation,
                               const CheckOptions &options,
                               const std::function<OwningOpRef<ModuleOp>(int64_t)> &makeCase,
                               const std::function<void(int64_t, Verdict)> &report) {
  std::map<pid_t, Child> children;
  auto wait = [&] {
    int status;
    pid_t pid = waitpid(-1, &status, 0);
    auto child = children.extract(pid);
    if (!child.empty())
      report(child.mapped().number, outcomeOf(child.mapped(), status));
  };
  for (int64_t number = 0; number < count; ++number) {
    while (children.size() >= static_cast<size_t>(isolation.jobs))
      wait();
    FILE *file = std::tmpfile();
    std::fflush(nullptr);
    pid_t pid = fork();
    if (pid == 0) {
      for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
        std::signal(signal, SIG_DFL); // a test framework's handlers would speak of the parent
      limitTime(isolation.seconds);
      OwningOpRef<ModuleOp> module = makeCase(number);
      Verdict outcome;
      if (module)
        outcome = checkCase(*module, options);
      else
        outcome.status = Verdict::Status::Rejected;
      std::string text = encode(outcome);
      std::fwrite(text.data(), 1, text.size(), file);
      std::fflush(file);
      _exit(0);
    }
    children[pid] = {number, file};
  }
  while (!children.empty())
    wait();
}

Verdict accc::test::checkIsolated(ModuleOp module, const CheckOptions &options) {
  Verdict verdict;
  checkIsolated(
      1, {.jobs = 1}, options, [&](int64_t) { return OwningOpRef<ModuleOp>(module.clone()); },
      [&](int64_t, const Verdict &found) { verdict = found; });
  return verdict;
}
