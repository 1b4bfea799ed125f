// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `accc-opt --import MODEL [-D dim=n]...`: prints what an importer makes of a model, for tests.
#ifndef ACCC_TOOLS_ACCC_OPT_IMPORT_H
#define ACCC_TOOLS_ACCC_OPT_IMPORT_H

/// Arguments after `--import`. Problems and warnings go to the standard error; gives the exit code.
int importAndPrint(int argc, char **argv);

#endif
