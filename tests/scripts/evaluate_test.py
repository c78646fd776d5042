"""Tests that `fatune evaluate` answers each proposal while its input stays open, so that callers can wait for it.

evaluate_test.py FATUNE
"""
import json
import subprocess
import sys

CONFIGS = [f"(FP16, 128, {rows}, 64, 4): async+eager+swizzled+load_2_2_2_tiles" for rows in (64, 128, 96, 64)]


def main():
    program = subprocess.Popen(
        [sys.argv[1], "evaluate", "--family", "flash_sm80", "--seq", "256", "--batch", "1", "--heads", "1",
         "--device", "none", "--arch", "sm_80", "--no-emulate", "-q"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert json.loads(program.stdout.readline())["kind"] == "ready"
    answers = []
    for number, config in enumerate(CONFIGS):
        print(json.dumps({"id": number, "config": config}), file=program.stdin, flush=True)
        answers.append(json.loads(program.stdout.readline()))
    program.stdin.close()
    rest = [json.loads(line) for line in program.stdout]
    assert program.wait(60) == 0, program.returncode
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3], answers
    assert [answer["outcome"] for answer in answers] == ["estimated", "estimated", "invalid", "estimated"], answers
    assert answers[0]["time_us"] == answers[3]["time_us"] > 0, answers
    assert rest[-1]["format"] == "fatune.results", rest[-1]
    assert len(rest[-1]["problems"][0]["ranking"]) == 2


main()
