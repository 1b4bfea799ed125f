#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the suites of a build folder with ctest and counts the single tests in them.

    test/run.py BUILD [ctest options]

A suite counts as one test unless it says more: unit tests write <program>.tsv into the folder
named by ACCC_TEST_RESULTS (test/unit/ResultsFile.h), lit writes the file of its --xunit-xml-output.
Prints the failures and the reasons of skips; the last line is "N passed, N failed, N skipped".
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


def ctest(build, arguments, **options):
    return subprocess.run(["ctest", "--test-dir", str(build)] + arguments, **options)


def commands(build, select):
    """The command line of each suite, by its name, and what it adds to the names of its programs' files of results."""
    listed = ctest(build, ["--show-only=json-v1"] + select, check=True, stdout=subprocess.PIPE)
    suites = {}
    for test in json.loads(listed.stdout)["tests"]:
        properties = {each["name"]: each["value"] for each in test.get("properties", [])}
        environment = dict(entry.split("=", 1) for entry in properties.get("ENVIRONMENT", []))
        told = [environment.get(name, os.environ.get(name)) for name in ("ACCC_TEST_TARGET", "ACCC_SIZE_DIVISOR")]
        suites[test["name"]] = test.get("command", []), "".join(f".{each}" for each in told if each is not None)
    return suites


def lines_of(path):
    """(status, name, reason) of each test that a unit test program ran.

    A test case that failed in one of its sections and passed in others has both lines; a name that
    comes several times counts once, as failed if it failed at all.
    """
    found = {}
    for line in path.read_text().splitlines():
        status, name, reason = (line.split("\t") + ["", ""])[:3]
        if name not in found or found[name][0] == "passed" or status == "failed":
            found[name] = (status, reason)
    return [(status, name, reason) for name, (status, reason) in found.items()]


def xunit(path):
    """The same for an xUnit file."""
    tests = []
    for case in ElementTree.parse(path).iter("testcase"):
        status, reason = "passed", ""
        for child in case:
            if child.tag in ("failure", "error"):
                status = "failed"
            elif child.tag == "skipped":
                status, reason = "skipped", child.get("message", "")
        tests.append((status, case.get("name"), reason))
    return tests


def singles(command, suffix, results):
    """The single tests that a suite's command has told of."""
    for argument in command:
        if argument.startswith("--xunit-xml-output="):
            path = pathlib.Path(argument.split("=", 1)[1])
            return xunit(path) if path.exists() else []
    path = results / f"{pathlib.Path(command[0]).name}{suffix}.tsv" if command else None
    return lines_of(path) if path and path.exists() else []


def tests_of(suite, command, suffix, results):
    """All tests of a suite, given its element of ctest's report."""
    name = suite.get("name")
    skipped = suite.find("skipped")
    output = (suite.findtext("system-out") or "").strip().splitlines()
    if suite.get("status") in ("notrun", "disabled") or skipped is not None:
        if suite.get("status") == "run" or (skipped is not None and "SKIP" in skipped.get("message", "")):
            return [("skipped", name, output[-1] if output else "")]
        return [("failed", name, "could not be run")]
    tests = [(status, f"{name}: {test}", why) for status, test, why in singles(command, suffix, results)]
    if not tests:
        return [("passed" if suite.get("status") == "run" else "failed", name, "")]
    if suite.get("status") != "run" and all(status != "failed" for status, _, _ in tests):
        tests.append(("failed", name, f"ended early, after {tests[-1][1]}"))
    return tests


def skips(tests):
    """A line for each reason that tests were skipped for."""
    names = {}
    for status, name, reason in tests:
        if status == "skipped":
            # "(Adam): the operator is not supported" is one reason for all operators.
            names.setdefault(re.sub(r"^\(.*?\): ", "", reason) or "no reason given", []).append(name)
    for reason, which in sorted(names.items(), key=lambda item: -len(item[1])):
        shown = which if len(which) <= 4 else which[:3] + ["..."]
        yield f"skipped: {len(which)} because: {reason} ({', '.join(shown)})"


def main():
    build, select = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    results = build / "test-results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)
    command = commands(build, select)
    report = results / "ctest.xml"
    jobs = str(os.cpu_count() or 1)
    ctest(
        build,
        ["--output-on-failure", "-j", jobs, "--output-junit", str(report)] + select,
        env=dict(os.environ, ACCC_TEST_RESULTS=str(results)),
    )
    tests = []
    for suite in ElementTree.parse(report).iter("testcase"):
        tests += tests_of(suite, *command.get(suite.get("name"), ([], "")), results)

    print()
    for line in skips(tests):
        print(line)
    for status, name, reason in tests:
        if status == "failed":
            print(f"failed: {name}" + (f" ({reason})" if reason else ""))
    count = {status: sum(test[0] == status for test in tests) for status in ("passed", "failed", "skipped")}
    if not tests:
        print("no suite was selected")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped", flush=True)
    return 1 if count["failed"] or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
