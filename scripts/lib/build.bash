# Sourced by scripts/fatune and scripts/test: sets up, configures and builds one preset. It does so quietly, for one
# caller at a time, and at no cost if nothing changed.

fatune_root="$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"

# The sources that every build depends on. A folder's modification time shows added and removed files.
fatune_sources=(CMakeLists.txt CMakePresets.json cmake configs kernels src scripts/setup)

say() { echo "fatune: $*" >&2; }

# is_fresh FOLDER TARGET [MORE_SOURCES...]: whether nothing is newer than the target's last good build, and the NVRTC
# that it was linked with still exists.
is_fresh() {
  local folder=$1 stamp="$1/.fresh-$2" nvrtc=
  shift 2
  [[ -f $stamp ]] && read -r nvrtc <"$folder/.nvrtc" && [[ -e $nvrtc ]] &&
    [[ -z "$(cd -- "$fatune_root" &&
      find "${fatune_sources[@]}" "$@" -newer "$stamp" -print -quit 2>&1)" ]]
}

# Runs a command with its output in the log. If it fails, shows the end of the log.
logged() {
  local log=$1
  shift
  if "$@" >>"$log" 2>&1 </dev/null; then return 0; fi
  tail -n 60 -- "$log" >&2
  say "failed: $* (the whole log: $log)"
  return 1
}

# Does the work of build_preset while it holds the lock.
build_preset_locked() {
  local preset=$1 target=$2 folder=$3
  shift 3
  if is_fresh "$folder" "$target" "$@"; then return 0; fi
  "$fatune_root/scripts/setup" || return 1
  local log="$folder/build.log"
  # The stamp has the time before the build: an edit during the build makes the next call build again.
  touch -- "$folder/.fresh.next"
  : >"$log"
  say "building (preset $preset, log in $log)"
  cd -- "$fatune_root" || return 1
  logged "$log" cmake --preset "$preset" || return 1
  logged "$log" cmake --build "$folder" --target "$target" || return 1
  sed -n 's/^Nvrtc_LIBRARY:[A-Z]*=//p' "$folder/CMakeCache.txt" >"$folder/.nvrtc"
  mv -- "$folder/.fresh.next" "$folder/.fresh-$target"
}

# build_preset PRESET TARGET [MORE_SOURCES...]: brings build/PRESET up to date. Waits for another caller's build.
build_preset() {
  local folder="$fatune_root/build/$1"
  if is_fresh "$folder" "$2" "${@:3}"; then return 0; fi
  mkdir -p -- "$folder"
  (
    flock --nonblock 9 || { say "waiting for another build"; flock 9; }
    build_preset_locked "$1" "$2" "$folder" "${@:3}"
  ) 9>"$fatune_root/build/.lock"
}
