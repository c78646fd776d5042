"""What a file of results has is what fatune reads from it."""
import json
import subprocess


def expect_read_back(fatune, file):
    """Checks that fatune prints the run of the file again with everything that the file has."""
    shown = subprocess.run([fatune, "show", str(file), "--format", "json"], capture_output=True, text=True, check=True)
    assert json.loads(shown.stdout) == json.loads(file.read_text(encoding="utf-8")), file
