// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/ProblemCollector.h"

#include "support/Fault.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc;

std::string accc::nodeName(Location loc) {
  return llvm::TypeSwitch<LocationAttr, std::string>(loc)
      .Case([](NameLoc name) { return name.getName().str(); })
      .Case([](FileLineColLoc file) {
        return file.getFilename().str() + ":" + std::to_string(file.getLine()) + ":" +
               std::to_string(file.getColumn());
      })
      .Case([](CallSiteLoc call) { return nodeName(call.getCallee()); })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (std::string name = nodeName(part); !name.empty())
            return name;
        return std::string();
      })
      .Default([](LocationAttr) { return std::string(); });
}

static Problem::Severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Error:
    return Problem::Severity::Error;
  case DiagnosticSeverity::Warning:
    return Problem::Severity::Warning;
  default:
    return Problem::Severity::Note;
  }
}

ProblemCollector::ProblemCollector(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        Problem problem;
        problem.severity = severityOf(diagnostic.getSeverity());
        problem.node = nodeName(diagnostic.getLocation());
        problem.message = diagnostic.str();
        problem.fault = faultOf(diagnostic.getLocation());
        for (Diagnostic &note : diagnostic.getNotes())
          problem.message += "\n  " + note.str();
        add(std::move(problem));
        return success();
      }) {}

void ProblemCollector::add(Problem problem) {
  if (problem.severity == Problem::Severity::Error)
    gravest = std::max(gravest.value_or(problem.fault), problem.fault);
  if (llvm::is_contained(problems, problem))
    return;
  problem.sizes = sizes;
  problems.push_back(std::move(problem));
}
