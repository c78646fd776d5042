# only_installed_files.bash BUILD PROGRAM CUDA_FOLDER...: every header that the build in BUILD read, and
# every library that PROGRAM loads, comes from a package that scripts/setup installs, from what these
# depend on, or from a CUDA_FOLDER. Anything else is something that a fresh machine does not have. Exits
# 77 (skipped) where there is no dpkg.
set -euo pipefail
command -v dpkg-query >/dev/null && command -v apt-cache >/dev/null || exit 77

build=$1 program=$2
shift 2
rm -rf -- "$WORK"
mkdir -p "$WORK"
cd -- "$WORK"

# resolve: the files named on standard input as they are once links are followed.
resolve() { xargs --delimiter='\n' --no-run-if-empty realpath -- | sort -u; }

# Setup's packages, what they depend on, and what every Debian has.
{
  mapfile -t packages < <("$SCRIPTS/setup" --list)
  apt-cache depends --installed --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances "${packages[@]}" | sed -nE 's/^([a-z0-9][^ :]*).*/\1/p'
  dpkg-query --show --showformat='${Package} ${Essential} ${Priority}\n' |
    awk '$2 == "yes" || $3 == "required" { print $1 }'
} | sort -u >allowed_packages
[[ -s allowed_packages ]] || { echo "FAILED: no package is allowed"; exit 1; }

# Files of the packages. dpkg names some by the links of a merged /usr.
# Some allowed packages are alternatives that are not installed: those it knows nothing of.
{ xargs dpkg-query --listfiles <allowed_packages 2>/dev/null || true; } | grep -E '/include/|/lib/|\.so' | sort -u >listed
{ cat listed; sed -n 's,^/lib,/usr/lib,p' listed; } | while read -r file; do
  if [[ -f $file ]]; then echo "$file"; fi
done | resolve >allowed_files

# Own files and CUDA's count by the path that they were found at: on some machines a folder of the
# compiler's default path holds links to a toolkit's headers.
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
