// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ScratchFolder.h"

#include "accc/error.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace accc;
using namespace accc::tool;
namespace fs = std::filesystem;

// What follows runs in a signal handler: system calls and memory that is there.

static constexpr int kEndings[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[std::size(kEndings)];

/// The folder to remove; empty: none.
static char current[PATH_MAX];

/// No folder that a command makes is deeper.
static constexpr int kMostLevels = 8;

static void removeTree(int parent, const char *name, int level) {
  int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0) {
    alignas(dirent64) char buffer[2048];
    while (ssize_t size = getdents64(folder, buffer, sizeof buffer)) {
      if (size < 0)
        break;
      for (ssize_t at = 0; at < size;) {
        auto *entry = reinterpret_cast<dirent64 *>(buffer + at);
        at += entry->d_reclen;
        if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0)
          continue;
        if (unlinkat(folder, entry->d_name, 0) != 0 && level < kMostLevels)
          removeTree(folder, entry->d_name, level + 1);
      }
    }
    close(folder);
  }
  unlinkat(parent, name, AT_REMOVEDIR);
}

static void removeAndEnd(int signal) {
  if (*current)
    removeTree(AT_FDCWD, current, 0);
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  raise(signal); // delivered when this returns
}

// Down to here.

static void watchSignals(const std::string &path) {
  std::strcpy(current, path.c_str());
  for (size_t i = 0; i < std::size(kEndings); ++i) {
    struct sigaction action = {};
    action.sa_handler = removeAndEnd;
    sigaction(kEndings[i], nullptr, &before[i]);
    if (before[i].sa_handler != SIG_IGN)
      sigaction(kEndings[i], &action, nullptr);
  }
}

static void unwatchSignals() {
  for (size_t i = 0; i < std::size(kEndings); ++i)
    sigaction(kEndings[i], &before[i], nullptr);
  *current = 0;
}

[[noreturn]] static void fail(const std::string &what) {
  throw Error(ErrorKind::machine, what + ": " + std::strerror(errno));
}

ScratchFolder::ScratchFolder(const fs::path &name) {
  std::string pattern = fs::absolute(name).lexically_normal().string() + "XXXXXX";
  if (pattern.size() >= sizeof current)
    throw Error(ErrorKind::machine, "the name of the folder " + pattern + " is too long");
  // No signal may come between the folder and its name in `current`.
  sigset_t endings, mask;
  sigemptyset(&endings);
  for (int signal : kEndings)
    sigaddset(&endings, signal);
  sigprocmask(SIG_BLOCK, &endings, &mask);
  bool made = mkdtemp(pattern.data());
  int error = errno;
  if (made)
    watchSignals(pattern);
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  errno = error;
  if (!made)
    fail("cannot make the folder " + pattern);
  folder = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  unwatchSignals();
}

static void synchronise(const fs::path &path) {
  int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  // Some file systems cannot synchronise a folder; there is no more to be done on those.
  (void)fsync(descriptor);
  close(descriptor);
}

void ScratchFolder::publish(const fs::path &name) {
  fs::path target = fs::absolute(name).lexically_normal();
  if (!target.has_filename())
    target = target.parent_path();
  mode_t mask = umask(0);
  umask(mask);
  (void)chmod(folder.c_str(), 0777 & ~mask); // as mkdir would have made it
  synchronise(folder);
  // Of a folder that is there the names are exchanged, so that it goes away in this one's place.
  int result = fs::exists(target)
                   ? renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE)
                   : rename(folder.c_str(), target.c_str());
  if (result != 0)
    fail("cannot write the folder " + name.string());
  synchronise(target.parent_path());
}
