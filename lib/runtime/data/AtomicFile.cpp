// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "AtomicFile.h"

#include "accc/error.h"
#include "accc/links.h"

#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace accc::detail {

namespace {

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string nameOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// A name that no other process and no other writer of this one uses; a name too long for the file
/// system once decorated is cut.
std::string temporaryName(const std::string &target) {
  static std::atomic<unsigned> counter{0};
  std::string name = nameOf(target).substr(0, NAME_MAX - 64);
  return folderOf(target) + "/." + name + ".tmp-" + std::to_string(::getpid()) + "-" +
         std::to_string(counter++);
}

/// While it lives, a write of this thread beyond the limit of a file's size (ulimit -f) fails with
/// EFBIG; else the system sends a signal that ends the program.
class HeldFileSizeSignal {
public:
  HeldFileSizeSignal() {
    sigemptyset(&own);
    sigaddset(&own, SIGXFSZ);
    sigset_t pending;
    sigpending(&pending);
    wasPending = sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &own, &before);
  }
  HeldFileSizeSignal(const HeldFileSizeSignal &) = delete;
  HeldFileSizeSignal &operator=(const HeldFileSizeSignal &) = delete;
  ~HeldFileSizeSignal() {
    const timespec noWait = {};
    while (!wasPending && ::sigtimedwait(&own, nullptr, &noWait) < 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

private:
  sigset_t own, before;
  bool wasPending;
};

} // namespace

AtomicFile::AtomicFile(const std::string &path) : path(path), target(follow_links(path)) {
  struct stat existing = {};
  bool exists = ::stat(target.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode))
    throw Error(ErrorKind::usage, "cannot write " + path + ": it is there and is not a file");
  if (!openNameless())
    openTemporary();
  if (exists && ::fchmod(file, existing.st_mode & 07777) != 0)
    fail("keep the file's permissions", errno);
}

/// The path by which the kernel knows an open file.
static std::string linkOf(int file) { return "/proc/self/fd/" + std::to_string(file); }

bool AtomicFile::openNameless() {
  file = ::open(folderOf(target).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0)
    return false; // not by this file system; or the folder is at fault, which open says again
  if (::access(linkOf(file).c_str(), F_OK) == 0)
    return true;
  ::close(file); // without /proc it could not be named
  file = -1;
  return false;
}

void AtomicFile::openTemporary() {
  std::string name = temporaryName(target);
  file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0)
    fail("create a file in its folder", errno);
  temporary = name;
}

/// A link never replaces a file: the name is a temporary one, for as long as the renaming takes.
void AtomicFile::giveName() {
  std::string name = temporaryName(target);
  if (::linkat(AT_FDCWD, linkOf(file).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0)
    fail("give the new file a name", errno);
  temporary = name;
}

AtomicFile::~AtomicFile() {
  if (file >= 0)
    ::close(file);
  if (!temporary.empty())
    ::unlink(temporary.c_str());
}

void AtomicFile::write(const void *data, size_t bytes) {
  HeldFileSizeSignal held;
  const char *position = static_cast<const char *>(data);
  while (bytes) {
    // Linux writes at most 2 GiB in one call.
    ssize_t written = ::write(file, position, bytes < (1u << 30) ? bytes : (1u << 30));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      fail("write", errno);
    position += written;
    bytes -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(file) != 0)
    fail("bring the data to disk", errno);
  if (temporary.empty())
    giveName();
  int closed = ::close(file);
  file = -1;
  if (closed != 0)
    fail("close", errno);
  if (::rename(temporary.c_str(), target.c_str()) != 0)
    fail("rename the new file into place", errno);
  temporary.clear();
  // The rename itself is durable only once the folder is. Some file systems cannot synchronise a
  // folder (EINVAL); there is no more to be done on those.
  int folder = ::open(folderOf(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  int synced = ::fsync(folder), error = errno;
  ::close(folder);
  if (synced != 0 && error != EINVAL)
    throw Error(ErrorKind::machine, path + " is written, but its folder could not be brought to " +
                                        "disk: " + std::strerror(error));
}

void AtomicFile::fail(const std::string &action, int error) {
  std::string message =
      "cannot write " + path + ": could not " + action + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    message += "; make room or choose another folder";
  struct stat existing = {};
  if (::stat(target.c_str(), &existing) == 0)
    message += "; the file that was there is unchanged";
  throw Error(ErrorKind::machine, message);
}

} // namespace accc::detail
