"""What a file of results has is what fatune reads from it."""
import json
import subprocess


def with_later_members(item):
    """Adds to a problem what earlier versions of fatune did not write."""
    return {"seq_lens_kv": ""} | item if "layout" in item else item


def expect_read_back(fatune, file):
    """Checks that fatune prints the run of the file again with everything that the file has."""
    shown = subprocess.run([fatune, "show", str(file), "--format", "json"], capture_output=True, text=True, check=True)
    recorded = json.loads(file.read_text(encoding="utf-8"), object_hook=with_later_members)
    assert json.loads(shown.stdout) == recorded, file
