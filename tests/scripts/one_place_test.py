"""A new member of a result, a property of a problem and a member of a worker's message are one place each.

one_place_test.py SOURCE CXX FLAG...: adds each to a copy of the sources, in one file, and checks that it is written,
read back and described. Compiling takes minutes, so the test is skipped without FATUNE_TEST_EXHAUSTIVE=1.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
ROOMS = ("core", "attention", "report", "record", "process")

# File, and pairs of what stands there and what is added after it.
ADDITIONS = {
    "model/report.hpp": (
        ("  std::int64_t proposal = 0;\n", "  int dummy_count = 0;\n"),
        ('     "place of the configuration among those proposed for the problem; null: not known"),\n',
         '    (dummy_count, "a dummy"),\n')),
    "model/problem.hpp": (
        ("  bool lse = false;  ///< the log-sum-exp of every row is wanted too\n", "  std::int64_t dummy_size = 0;\n"),
        ("inline constexpr std::array kProblemDetails{\n",
         '    problem_detail::row<&Problem::dummy_size>(ProblemDetail::Kind::integer, "dummy_size", "--dummy-size",\n'
         '                                              "dummy", 0, 100, "a dummy"),\n')),
    "measure/measurer.hpp": (
        ("  int round = 0;  ///< the first sample's round\n", "  int dummy_index = 0;\n"),
        ("FATUNE_DESCRIBED(SampleRequest, (count), (round), ", "(dummy_index), ")),
}

CHECKS = """
#include <algorithm>
#include <cassert>
#include "measure/worker_messages.hpp"
#include "model/record_json.hpp"

using namespace fatune;

template <typename Value>
bool is_described(std::string_view name) {
  return std::ranges::any_of(record_members<Value>(), [&](const RecordMember& member) {
    return member.info.name == name && member.info.doc == "a dummy";
  });
}

int main() {
  Result result;
  result.outcome = Crashed{"error"};
  result.dummy_count = 7;
  assert(record_json(result).at("dummy_count") == 7);
  assert(read_record<Result>(record_json(result)).dummy_count == 7);
  assert(is_described<Result>("dummy_count"));

  Problem problem{1, 2, 3, 4};
  problem.dummy_size = 8;
  assert(record_json(problem).at("dummy_size") == 8);
  assert(read_record<Problem>(record_json(problem)) == problem);
  assert(is_described<Problem>("dummy_size"));
  assert(describe(problem).find("dummy8") != std::string::npos);
  assert(option_text(problem).find("--dummy-size 8") != std::string::npos);

  SampleRequest request;
  request.dummy_index = 9;
  assert(sample_message({1}, request).body.at("dummy_index") == 9);
  assert(read_sample(sample_message({1}, request)).dummy_index == 9);
}
"""


def add_members(source):
    for name, additions in ADDITIONS.items():
        file = source / name
        text = file.read_text(encoding="utf-8")
        for place, addition in additions:
            assert text.count(place) == 1, (name, place)
            text = text.replace(place, place + addition)
        file.write_text(text, encoding="utf-8")


def write_units(folder, source):
    """Writes a file for each room, which includes all of its sources, and one for the checks. Returns their names."""
    units = {room: "".join(f'#include "{file.relative_to(source)}"\n' for file in sorted((source / room).glob("*.cpp")))
             for room in ROOMS}
    units["checks"] = '#include "measure/worker_messages.cpp"\n' + CHECKS
    for name, text in units.items():
        (folder / f"{name}.cpp").write_text(text, encoding="utf-8")
    return list(units)


def main():
    if os.environ.get("FATUNE_TEST_EXHAUSTIVE") != "1":
        print("skipped: compiling takes minutes; FATUNE_TEST_EXHAUSTIVE=1 runs it")
        return SKIPPED
    source, compiler, flags = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(source, folder / "src")
        add_members(folder / "src")
        units = write_units(folder, folder / "src")
        for unit in units:
            command = [compiler, "-std=c++20", "-I", "src", "-c", f"{unit}.cpp", "-o", f"{unit}.o"]
            subprocess.run([*command, *(flag for flag in flags if not flag.startswith("-l"))], cwd=folder, check=True)
        subprocess.run([compiler, *(f"{unit}.o" for unit in units), "-o", "checks", *flags], cwd=folder, check=True)
        subprocess.run([folder / "checks"], check=True)
    print("each is one place")
    return 0


if __name__ == "__main__":
    sys.exit(main())
