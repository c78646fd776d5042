# Sourced by scripts/package: turns the installed program in $work/installed into a wheel, a Debian package or a
# tarball. Each pack_ function makes a folder FOLDER with the contents of the package, and one file in OUT, whose name
# it prints. SOURCE_DATE_EPOCH is the time of all files.

# refuse_libraries PROGRAM: fails if the program needs a library that is not part of the C library.
refuse_libraries() {
  local needed strangers
  needed="$(objdump -p "$1" | sed -n 's/^ *NEEDED *//p')"
  [[ $needed == *libc.so* ]] || { say "what $1 needs is not known"; return 1; }
  strangers="$(grep -vxE '(libc|libm|ld-linux.*)\.so\.[0-9]+' <<<"$needed" || true)"
  [[ -z $strangers ]] || { say "the program needs more than the C library: ${strangers//$'\n'/ }"; return 1; }
}

# glibc_version PROGRAM: the lowest version of the GNU C library with which the program runs.
glibc_version() { objdump -T "$1" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | sed -n '$s/GLIBC_//p'; }

# refuse_newer_glibc PROGRAM: fails if the program needs a newer version than docs/packages.md promises.
refuse_newer_glibc() {
  local version
  version="$(glibc_version "$1")"
  [[ "$(printf '%s\n2.34\n' "$version" | sort -V | tail -n 1)" == 2.34 ]] ||
    { say "the program needs glibc $version, and not 2.34"; return 1; }
}

# Packages whose headers or static libraries the build used, except those of the C library and the kernel.
packages_built_from() {
  {
    ninja -C "$1" -t deps | sed -n 's,^ \+/,/,p'
    ninja -C "$1" -t inputs bin/fatune | grep '^/.*\.a$'
    g++ -print-file-name=libstdc++.a
  } | sort -u | xargs realpath -- | grep '^/usr/' | sort -u | xargs dpkg-query --search | sed 's/:.*//' | sort -u |
    grep -vxE 'libc6-dev|linux-libc-dev'
  sed -nE 's,^D3_.*_LICENCE:[A-Z]*=/usr/share/doc/([^/]+)/copyright$,\1,p' "$1/CMakeCache.txt"
}

# third_party_copyrights BUILD: prints who wrote the works that are linked in, and their terms.
third_party_copyrights() {
  local package
  cat <<'END'
fatune is under the Apache License, version 2.0. The program has these works linked in, each under its own terms. Their
sources are Debian's, in the source packages of the packages named. fatune's own source, with scripts/package, makes
the program anew with other versions of them.
END
  for package in $(packages_built_from "$1"); do
    printf '\n==== %s\n\n' "$package"
    cat -- "/usr/share/doc/$package/copyright"
  done
}

# The same with the licences that Debian's files only refer to, for systems without /usr/share/common-licenses.
third_party_licenses() {
  local licence
  cat -- "$work/copyrights"
  for licence in $(grep -oE '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$work/copyrights" | sort -u); do
    if [[ -e $licence ]]; then
      printf '\n==== %s\n\n' "$licence"
      cat -- "$licence"
    fi
  done
}

# settle FOLDER: makes times and permissions independent of the checkout.
settle() {
  chmod -R u=rwX,go=rX -- "$1"
  find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# requirements LIST EXTRA: the wheels of scripts/cuda_wheels/LIST as Requires-Dist lines, of the same CUDA release. With
# an EXTRA, only for users who request it. CUPTI is for users who read hardware counters, and NVTX's headers are
# compiled in.
requirements() {
  sed -nE 's/^(nvidia-[a-z0-9-]+)==([0-9]+\.[0-9]+)\..*/\1 \2/p' "$fatune_root/scripts/cuda_wheels/$1" |
    while read -r name release; do
      local marker="${2:+; extra == '$2'}"
      case $name in
        nvidia-nvtx*) continue ;;
        nvidia-cuda-cupti) marker="; extra == 'counters'" ;;
        nvidia-cuda-cupti-*) continue ;;
      esac
      echo "Requires-Dist: $name ==$release.*$marker"
    done
}

# copy_documents FOLDER: copies the documents that the program's output names ("docs/store.md"), and what they link to.
copy_documents() {
  mkdir -p -- "$1"
  cp -r -- "$fatune_root/README.md" "$fatune_root/docs" "$1"
}

wheel_metadata() {
  cat <<END
Metadata-Version: 2.4
Name: fatune
Version: $version
Summary: Finds the fastest configuration of a Flash Attention kernel on the GPU it runs on
License-Expression: Apache-2.0
License-File: LICENSE
License-File: THIRD_PARTY_LICENSES
Requires-Python: >=3.9
Description-Content-Type: text/markdown
$(requirements cuda13.txt)
Provides-Extra: counters
Provides-Extra: cuda12
$(requirements cuda12.txt cuda12)
Provides-Extra: tools
$(requirements tools.txt tools)

$(cat "$fatune_root/README.md")
END
}

# The program is a script of the wheel, although it is not Python: pip puts it on the PATH as it is. The module finds it
# there.
pack_wheel() {
  local info="$1/fatune-$version.dist-info" data="$1/fatune-$version.data" tag
  tag="py3-none-manylinux_$(glibc_version "$work/installed/bin/fatune" | tr . _)_$(uname -m)"
  mkdir -p -- "$info/licenses" "$data/data" "$1/fatune"
  cp -- "$fatune_root"/src/python/fatune/*.py "$fatune_root/src/python/fatune/py.typed" "$1/fatune"
  cp -r -- "$work/installed/bin" "$data/scripts"
  if [[ -d $work/installed/share ]]; then cp -r -- "$work/installed/share" "$data/data"; fi
  copy_documents "$data/data/share/doc/fatune"
  wheel_metadata >"$info/METADATA"
  printf '%s\n' "Wheel-Version: 1.0" "Generator: fatune $version" "Root-Is-Purelib: false" "Tag: $tag" >"$info/WHEEL"
  cp -- "$fatune_root/LICENSE" "$info/licenses/"
  third_party_licenses >"$info/licenses/THIRD_PARTY_LICENSES"
  settle "$1"
  wheel_tool pack --dest-dir "$2" "$1" >&2
  echo "$2/fatune-$version-$tag.whl"
}

# The tool of the Python Packaging Authority, in its own folder.
wheel_tool() {
  local folder="$fatune_root/build/wheel_tool"
  if [[ ! -d $folder/wheel ]]; then
    python3 -m pip install --quiet --disable-pip-version-check --target "$folder" wheel==0.45.1 >&2
  fi
  PYTHONPATH="$folder" python3 -m wheel "$@"
}

pack_tar() {
  local name
  name="fatune-$version-linux-$(uname -m)"
  mkdir -p -- "$1/$name"
  cp -r -- "$work/installed/." "$1/$name"
  copy_documents "$1/$name"
  cp -- "$fatune_root/LICENSE" "$1/$name"
  third_party_licenses >"$1/$name/THIRD_PARTY_LICENSES"
  settle "$1"
  tar --create --directory "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
    --format=gnu "$name" | gzip -9n >"$2/$name.tar.gz"
  echo "$2/$name.tar.gz"
}

deb_control() {
  cat <<END
Package: fatune
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $deb_maintainer
Installed-Size: $(find "$1/usr" -type f -printf '%s\n' | awk '{ sum += $1 } END { print int(sum / 1024) + 1 }')
Depends: libc6 (>= $(glibc_version "$1/usr/bin/fatune"))
Recommends: cuda-nvrtc-13-0 | cuda-nvrtc-12-8 | libnvrtc12
Section: contrib/science
Priority: optional
Description: finds the fastest configuration of an attention kernel
 fatune compiles a CUDA kernel of Flash Attention in every configuration of a
 search space, drops those that its rules exclude, checks the output of
 each remaining one on the GPU, and times them. Without a GPU it ranks them by
 an estimate.
 .
 It needs NVRTC of CUDA 12.0 or later, which compiles the kernels: of NVIDIA's
 own repository, of a CUDA toolkit, or of the PyPI package nvidia-cuda-nvrtc.
END
}

deb_changelog() {
  cat <<END
fatune ($version) unstable; urgency=medium

  * Version $version.

 -- $deb_maintainer  $(date --date="@$SOURCE_DATE_EPOCH" --rfc-email)
END
}

deb_copyright() {
  cat <<'END'
Copyright: the authors of fatune
License: Apache-2.0, which is in /usr/share/common-licenses/Apache-2.0

END
  cat -- "$work/copyrights"
}

pack_deb() {
  local file share="$1/usr/share" deb_maintainer="fatune maintainers <fatune@packages.invalid>"
  file="$2/fatune_${version}_$(dpkg --print-architecture).deb"
  mkdir -p -- "$1/DEBIAN" "$1/usr"
  cp -r -- "$work/installed/." "$1/usr"
  copy_documents "$share/doc/fatune"
  if [[ -d $share/man ]]; then find "$share/man" -type f -exec gzip -9n {} +; fi
  deb_copyright >"$share/doc/fatune/copyright"
  deb_changelog | gzip -9n >"$share/doc/fatune/changelog.gz"
  deb_control "$1" >"$1/DEBIAN/control"
  (cd -- "$1" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$1/DEBIAN/md5sums"
  settle "$1"
  dpkg-deb --build --root-owner-group -Zxz --threads-max=1 "$1" "$file" >&2
  echo "$file"
}
