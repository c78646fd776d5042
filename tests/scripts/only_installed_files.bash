# only_installed_files.bash BUILD PROGRAM CUDA_FOLDER...: checks that every header that the build in BUILD read, and
# every library that PROGRAM loads, comes from a package that scripts/setup installs, from a dependency of these, or
# from a CUDA_FOLDER. A fresh machine would lack anything else. Exits 77 (skipped) if there is no dpkg.
set -euo pipefail
command -v dpkg-query >/dev/null && command -v apt-cache >/dev/null || exit 77

build=$1 program=$2
shift 2
rm -rf -- "$WORK"
mkdir -p "$WORK"
cd -- "$WORK"

# resolve: prints the files named on standard input after following links.
resolve() { xargs --delimiter='\n' --no-run-if-empty realpath -- | sort -u; }

# Setup's packages, their dependencies, and the packages of every Debian system.
{
  mapfile -t packages < <("$SCRIPTS/setup" --list)
  apt-cache depends --installed --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances "${packages[@]}" | sed -nE 's/^([a-z0-9][^ :]*).*/\1/p'
  dpkg-query --show --showformat='${Package} ${Essential} ${Priority}\n' |
    awk '$2 == "yes" || $3 == "required" { print $1 }'
} | sort -u >allowed_packages
[[ -s allowed_packages ]] || { echo "FAILED: no package is allowed"; exit 1; }

# Files of the packages. dpkg names some of them by the links of a merged /usr. Some allowed packages are alternatives
# that are not installed, and dpkg does not know them.
{ xargs dpkg-query --listfiles <allowed_packages 2>/dev/null || true; } | grep -E '/include/|/lib/|\.so' | sort -u >listed
{ cat listed; sed -n 's,^/lib,/usr/lib,p' listed; } | while read -r file; do
  if [[ -f $file ]]; then echo "$file"; fi
done | resolve >allowed_files

# The repository's and CUDA's files count by the path at which they were found: on some machines a folder in the
# compiler's default path has links to a toolkit's headers.
own=("$(realpath -- "$SCRIPTS/..")/" "$(realpath -- "$build")/" "${@/%//}")
{
  ninja -C "$build" -t deps | sed -n 's,^ \+/,/,p' | sort -u
  ldd -- "$program" | sed -nE 's,.* => (/[^ ]+) .*,\1,p'
} >used
[[ $(wc -l <used) -gt 200 ]] || { echo "FAILED: the build's headers are not known"; exit 1; }
grep --invert-match --fixed-strings "$(printf '%s\n' "${own[@]}")" used | while read -r file; do
  if [[ -e $file && $(realpath -- "$file") != "${own[0]}"* ]]; then echo "$file"; fi
done >foreign

strangers="$(while read -r file; do
  grep --quiet --line-regexp --fixed-strings "$(realpath -- "$file")" allowed_files || echo "$file"
done <foreign)"
if [[ -n $strangers ]]; then
  echo "FAILED: a fresh machine does not have what scripts/setup does not install:"
  echo "$strangers"
  exit 1
fi
