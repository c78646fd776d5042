"""Packages from PyPI that a test needs, in their own folder."""
import pathlib
import shutil
import subprocess
import sys

PIP_LIMIT_S = 400


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def pip_install(folder, *arguments):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1",
               "--only-binary=:all:", "--no-compile", "--target", str(folder), *arguments]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True, timeout=PIP_LIMIT_S)
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        skip(f"{' '.join(arguments)} could not be installed: {said[-1] if said else error}")


def bring_wheels(folder, packages, files_only=()):
    """Makes `packages` ("name==version") importable. Of the packages in `files_only` only files are used, so their
    dependencies are not installed. Ends the program (77, skipped) if they cannot be installed. Returns the folder."""
    folder = pathlib.Path(folder)
    stamp = folder / "installed.txt"
    wanted = "\n".join([sys.version, *packages, *files_only])
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        if packages:
            pip_install(folder, *packages)
        if files_only:
            pip_install(folder, "--no-deps", *files_only)
        stamp.write_text(wanted)
    sys.path.insert(0, str(folder))
    return folder
