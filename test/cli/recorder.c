// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Preloaded into a process and what it starts: records what they do to the files of one folder, a
// line for each call, and kills them all at one of these calls.
//   ACCC_RECORD_FOLDER  the folder, absolute and without links
//   ACCC_RECORD_LOG     where the lines go: "create a", "write a", "sync a" ("." is the folder
//   itself),
//                       "close a", "rename a b", "remove a"; of a file without a name (O_TMPFILE) a
//                       number stands for the name until "link <number> a"
//   ACCC_RECORD_SIGNAL  the signal that ends the calling process in place of SIGKILL
//   ACCC_RECORD_KILL    the number of the call, from 1 on, that is never made; of a write, half is
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/// The part of an absolute path below the folder; "." for the folder, NULL outside.
static const char *below(const char *path) {
  const char *folder = getenv("ACCC_RECORD_FOLDER");
  size_t length = folder ? strlen(folder) : 0;
  if (!length || strncmp(path, folder, length) != 0)
    return NULL;
  return path[length] == '/' ? path + length + 1 : path[length] ? NULL : ".";
}

static const char *of_file(int file, char buffer[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, buffer, PATH_MAX - 1);
  if (length < 0)
    return NULL;
  buffer[length] = 0;
  char *nameless = strstr(buffer, " (deleted)");
  if (nameless)
    *nameless = 0;
  return below(buffer);
}

/// The same for a path that need not exist yet, from its folder.
static const char *of_path(const char *path, char buffer[PATH_MAX]) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
  if (!realpath(folder, buffer) || strlen(buffer) + strlen(name) + 2 > PATH_MAX)
    return NULL;
  strcat(strcat(buffer, "/"), name);
  return below(buffer);
}

/// Writes a line, or dies: first of a write's `half` bytes, if given.
static void record(const char *what, const char *first, const char *second, int file,
                   const void *data, size_t half) {
  const char *path = getenv("ACCC_RECORD_LOG"), *limit = getenv("ACCC_RECORD_KILL");
  int log = REAL(open)(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log < 0 || flock(log, LOCK_EX) != 0)
    abort();
  int lines = 0;
  char buffer[4096];
  for (ssize_t got; (got = read(log, buffer, sizeof buffer)) > 0;)
    for (ssize_t i = 0; i < got; ++i)
      lines += buffer[i] == '\n';
  const char *number = getenv("ACCC_RECORD_SIGNAL");
  int isLast = limit && lines + 1 == atoi(limit);
  if (isLast && !number) {
    if (half && REAL(write)(file, data, half) < 0)
      abort();
    kill(0, SIGKILL);
  }
  int length = snprintf(buffer, sizeof buffer, "%s %s%s%s\n", what, first, second ? " " : "",
                        second ? second : "");
  if (REAL(write)(log, buffer, (size_t)length) != length)
    abort();
  REAL(close)(log); // what handles a signal is recorded, too
  if (isLast && number)
    kill(getpid(), atoi(number));
}

static void record_open(const char *path, int flags) {
  char buffer[PATH_MAX];
  const char *name = flags & O_CREAT ? of_path(path, buffer) : NULL;
  if (name)
    record("create", name, NULL, -1, NULL, 0);
}

#define OPEN(name)                                                                                 \
  int name(const char *path, int flags, ...) {                                                     \
    va_list rest;                                                                                  \
    va_start(rest, flags);                                                                         \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                      \
    va_end(rest);                                                                                  \
    record_open(path, flags);                                                                      \
    return REAL(name)(path, flags, mode);                                                          \
  }
OPEN(open)
OPEN(open64)

ssize_t write(int file, const void *data, size_t bytes) {
  char buffer[PATH_MAX];
  const char *name = of_file(file, buffer);
  if (name)
    record("write", name, NULL, file, data, bytes / 2);
  return REAL(write)(file, data, bytes);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
  char buffer[PATH_MAX];
  const char *name = of_file(file, buffer);
  if (name)
    record("write", name, NULL, -1, NULL, 0);
  return REAL(writev)(file, parts, count);
}

int fsync(int file) {
  char buffer[PATH_MAX];
  const char *name = of_file(file, buffer);
  if (name)
    record("sync", name, NULL, -1, NULL, 0);
  return REAL(fsync)(file);
}

int close(int file) {
  char buffer[PATH_MAX];
  const char *name = of_file(file, buffer);
  if (name && (fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY)
    record("close", name, NULL, -1, NULL, 0);
  return REAL(close)(file);
}

int rename(const char *from, const char *to) {
  char first[PATH_MAX], second[PATH_MAX];
  const char *a = of_path(from, first), *b = of_path(to, second);
  if (a && b)
    record("rename", a, b, -1, NULL, 0);
  return REAL(rename)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  char first[PATH_MAX], second[PATH_MAX];
  int file = -1;
  const char *a = sscanf(from, "/proc/self/fd/%d", &file) == 1 ? of_file(file, first) : NULL;
  const char *b = of_path(to, second);
  if (a && b)
    record("link", a, b, -1, NULL, 0);
  return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path) {
  char buffer[PATH_MAX];
  const char *name = of_path(path, buffer);
  if (name)
    record("remove", name, NULL, -1, NULL, 0);
  return REAL(unlink)(path);
}

int remove(const char *path) {
  char buffer[PATH_MAX];
  const char *name = of_path(path, buffer);
  if (name)
    record("remove", name, NULL, -1, NULL, 0);
  return REAL(remove)(path);
}
