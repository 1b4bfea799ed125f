// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder that does not outlive the command that makes it.
#ifndef ACCC_TOOLS_ACCC_SCRATCHFOLDER_H
#define ACCC_TOOLS_ACCC_SCRATCHFOLDER_H

#include <filesystem>
#include <string>

namespace accc::tool {

/// A new folder, which goes away with its owner, also where SIGINT, SIGTERM or SIGHUP ends the
/// process. A command has one at a time.
class ScratchFolder {
public:
  /// Of this name and six more characters. Throws Error (machine).
  explicit ScratchFolder(const std::filesystem::path &name);
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;
  ~ScratchFolder();

  const std::filesystem::path &path() const { return folder; }

  /// Brings the folder to the disk and gives it its lasting name, where there is nothing, or a
  /// folder, which it replaces. Throws Error (machine); then what was there is as it was.
  void publish(const std::filesystem::path &name);

private:
  std::filesystem::path folder;
};

} // namespace accc::tool

#endif
