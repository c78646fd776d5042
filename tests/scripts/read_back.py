"""What a file of results has is what fatune reads from it."""
import json
import subprocess


def lost(old, new, where=""):
    """The first place of `old` whose value `new` lacks or changes; None: there is none. `new` may have more members."""
    if isinstance(old, dict) and isinstance(new, dict):
        places = (lost(value, new.get(name, "(nothing)"), f"{where}/{name}") for name, value in old.items())
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        places = (lost(*pair, f"{where}/{i}") for i, pair in enumerate(zip(old, new)))
    else:
        return None if old == new else where
    return next(filter(None, places), None)


def expect_read_back(fatune, file):
    """Checks that fatune prints the run of the file again with everything that the file has. Files of earlier versions
    lack what results have gained since."""
    shown = subprocess.run([fatune, "show", str(file), "--format", "json"], capture_output=True, text=True, check=True)
    place = lost(json.loads(file.read_text(encoding="utf-8")), json.loads(shown.stdout))
    assert place is None, f"{file}: {place}"
