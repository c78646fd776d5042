# package_files.bash PROGRAM: tests scripts/lib/package_files.bash with a small program in place of fatune. PROGRAM is
# linked with libraries that a package may not need. Exits 77 (skipped) if there is no dpkg-deb.
command -v dpkg-deb >/dev/null || exit 77
source "$(dirname -- "${BASH_SOURCE[0]}")/package_folder.bash"
dynamic=$1

if refuse_libraries "$dynamic" >refused; then fail "a program with more libraries than the C library's is packed"; fi
grep --quiet libfmt refused || fail "the message does not name libfmt: $(cat refused)"
refuse_libraries /bin/true || fail "a program with the C library alone is refused"
[[ $(glibc_version /bin/true) =~ ^2\.[0-9]+$ ]] || fail "no version of glibc: $(glibc_version /bin/true)"

requirements cuda13.txt >required
grep --quiet -E '^Requires-Dist: nvidia-cuda-nvrtc ==[0-9]+\.[0-9]+\.\*$' required || fail "no NVRTC: $(cat required)"
grep --quiet -E "^Requires-Dist: nvidia-cuda-cupti .*; extra == 'counters'$" required || fail "CUPTI is no extra"
if grep --quiet nvtx required; then fail "NVTX is compiled in"; fi
if requirements cuda12.txt cuda12 | grep --invert-match "; extra == 'cuda12'$"; then fail "CUDA 12 is no extra"; fi

# Packs twice, from files with different times and permissions.
for round in first second; do
  work="$WORK/$round"
  mkdir -p "$work/installed/bin" "$work/installed/share/man/man1" "$work/out"
  cp /bin/true "$work/installed/bin/fatune"
  echo ".TH FATUNE 1" >"$work/installed/share/man/man1/fatune.1"
  echo "terms, and /usr/share/common-licenses/GPL-3" >"$work/copyrights"
  pack_tar "$work/tar" "$work/out" >/dev/null
  pack_deb "$work/deb" "$work/out" 2>/dev/null >/dev/null
  umask 077
  sleep 1
done
[[ $(ls first/out | wc -l) -eq 2 ]] || fail "these were packed: $(ls first/out)"
for file in first/out/*; do
  cmp -- "$file" "second/out/${file##*/}" || fail "not the same bytes twice"
done
dpkg-deb --contents first/out/*.deb >contents
grep --quiet -E '^-rwxr-xr-x root/root .* \./usr/bin/fatune$' contents || fail "no program: $(cat contents)"
grep --quiet './usr/share/man/man1/fatune.1.gz$' contents || fail "no manual page: $(cat contents)"

# Every document that the program's output may name is in every package.
tar --list --file first/out/*.tar.gz >tar_contents
copy_documents "$WORK/documents"
grep --recursive --no-filename --only-matching -E 'docs/[a-z-]+\.md' "$SCRIPTS/../src" --include='*.?pp' | sort -u >named
[[ $(wc -l <named) -gt 10 ]] || fail "the names of documents are not found in the sources"
while read -r document; do
  grep --quiet "/usr/share/doc/fatune/$document$" contents || fail "the Debian package has no $document"
  grep --quiet "/$document$" tar_contents || fail "the tarball has no $document"
  [[ -s $WORK/documents/$document ]] || fail "the wheel has no $document"
done <named
