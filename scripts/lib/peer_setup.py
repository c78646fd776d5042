"""What comparisons with peers do before they measure: the peers that are installed, and where figures come from."""
import argparse
import datetime
import math
import pathlib
import platform
import sys

import peer_kernels


def seconds(text):
    """Reads a duration on the command line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def add_options(parser):
    """Adds the options of every comparison."""
    parser.add_argument("--fatune", default=str(pathlib.Path(__file__).parents[1] / "fatune"), metavar="PATH",
                        help="the program (default: scripts/fatune, which builds it)")
    parser.add_argument("--peers", metavar="LIST", help="some of " + ",".join(peer_kernels.FINDERS))
    parser.add_argument("--flash4-kernels", metavar="DIR",
                        help="times fa4's kernels that build_flash4_kernels compiled into DIR")
    parser.add_argument("--turn", type=seconds, metavar="SECONDS",
                        help="each sample is the median of launches back to back for so long, without the first "
                        "third, in place of one cold launch: for long problems at the power cap, where a kernel that "
                        "draws less power has a higher clock. The L2 is warm for problems that fit it. Launches must "
                        "take longer than the host needs to queue them")
    parser.add_argument("--format", choices=("table", "md"), default="table")


def read_options(parser):
    """Returns the options, with --peers as a list or None. Ends the program if they are wrong."""
    options = parser.parse_args()
    if options.peers is not None:
        options.peers = [name for name in options.peers.split(",") if name]
    if unknown := set(options.peers or ()) - set(peer_kernels.FINDERS):
        parser.error(f"unknown peers {', '.join(sorted(unknown))}; known: {', '.join(peer_kernels.FINDERS)}")
    if options.flash4_kernels and options.peers is not None and "fa4" not in options.peers:
        parser.error("--flash4-kernels: --peers leaves fa4 out")
    return options


def chosen_peers(torch, options, usual, note):
    """Returns {name: Peer} of those that are installed. Ends the program if one that was asked for is not."""
    finders, required = dict(peer_kernels.FINDERS), options.peers or []
    if options.flash4_kernels:
        finders["fa4"], required = peer_kernels.finder_of_libraries(options.flash4_kernels), [*required, "fa4"]
    peers, missing = peer_kernels.find_peers(torch, usual if options.peers is None else options.peers, finders)
    for name, reason in missing.items():
        if name in required:
            sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {name} was asked for and is not installed: {reason}")
        note(f"{name} is left out, it is not installed: {reason}")
    return peers


def arch_of_gpu(torch):
    major, minor = torch.cuda.get_device_capability()
    return f"sm_{major}{minor}a" if major == 9 else f"sm_{major}{minor}"


def origin_of(torch, driver, peers, toolchain):
    """toolchain: of a report of fatune"""
    return {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "command_line": " ".join(sys.argv), "device": torch.cuda.get_device_name(),
            "driver_cuda": driver.cuda_version(), "driver": _driver_release(),
            "versions": {"python": platform.python_version(), "torch": torch.__version__,
                         "torch_cuda": torch.version.cuda, "fatune": toolchain["fatune"],
                         "nvrtc": toolchain["nvrtc"], **{name: peer.version for name, peer in peers.items()}}}


def title(torch, origin):
    return f"{origin['device']} | driver {origin['driver'] or origin['driver_cuda']} | PyTorch {torch.__version__}"


def import_torch(program):
    """Returns PyTorch with its context current. Ends the program if there is none, or no GPU."""
    try:
        import torch
    except ImportError as error:
        sys.exit(f"{program}: PyTorch is not installed ({error}): pip install torch")
    if not torch.cuda.is_available():
        sys.exit(f"{program}: PyTorch shows no GPU")
    torch.zeros(1, device="cuda")
    return torch


def _driver_release():
    """Returns a version such as "580.159.04", or None if the driver's file does not contain it."""
    try:
        words = pathlib.Path("/proc/driver/nvidia/version").read_text(encoding="utf-8").split()
    except OSError:
        return None
    return next((word for word in words if word.count(".") >= 1 and word.replace(".", "").isdigit()), None)
