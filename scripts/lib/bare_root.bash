# Sourced by scripts that try fatune in a bare Debian or Ubuntu root: creates one with debootstrap, runs commands in it,
# and deletes it at the end. Needs root, debootstrap and the network.
#
# The root gets only this machine's network access: resolv.conf, hosts, apt's Acquire settings, proxy variables, pip's
# settings and the CA certificates (as PIP_CERT).

bare=
say() { echo "$(basename -- "$0"): $*" >&2; }
die() { say "$*"; exit 1; }

# Deletes the root, or keeps it if $keep is "yes".
clean_up_bare_root() {
  if [[ ${keep:-no} == yes ]]; then say "left behind: $bare"; else rm -rf --one-file-system -- "$bare"; fi
}

# bootstrap SUITE: creates the root of this suite (bookworm; jammy, noble). $bare is its folder.
bootstrap() {
  local suite=$1 mirror=http://deb.debian.org/debian components=main script more=()
  [[ $EUID -eq 0 ]] || die "must be root (debootstrap and chroot)"
  command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
  case $suite in jammy | noble) mirror=http://archive.ubuntu.com/ubuntu components=main,universe ;; esac
  script=/usr/share/debootstrap/scripts/$suite
  # An older debootstrap does not know later Ubuntu suites, but all are created in the same way.
  if [[ ! -e $script && $components == *universe* ]]; then more=(/usr/share/debootstrap/scripts/gutsy); fi
  bare="$(mktemp -d "${TMPDIR:-/var/tmp}/fatune-$suite.XXXXXX")"
  chmod 755 "$bare"  # apt runs as another user, who must be able to read it
  trap clean_up_bare_root EXIT
  say "debootstrap $suite"
  debootstrap --variant=minbase --components="$components" "$suite" "$bare" "$mirror" "${more[@]}" \
    >"$bare.log" 2>&1 || { tail -n 20 "$bare.log" >&2; rm -f -- "$bare.log"; die "debootstrap failed"; }
  rm -f -- "$bare.log"
  copy_network_settings
}

copy_network_settings() {
  cp --dereference /etc/resolv.conf "$bare/etc/resolv.conf"
  cp --dereference /etc/hosts "$bare/etc/hosts"  # debootstrap leaves localhost without an address
  local file
  for file in /etc/apt/apt.conf.d/*; do
    if grep --quiet '^ *Acquire::' "$file"; then cp -- "$file" "$bare/etc/apt/apt.conf.d/"; fi
  done
  if [[ -r /etc/pip.conf ]]; then cp /etc/pip.conf "$bare/etc/pip.conf"; fi
  if [[ -r /etc/ssl/certs/ca-certificates.crt ]]; then
    cp /etc/ssl/certs/ca-certificates.crt "$bare/etc/host-ca-certificates.crt"
  fi
}

# in_bare_root FOLDER COMMAND_LINE: runs the command in that folder of the root. Its mounts end with it.
in_bare_root() {
  local settings=(HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin)
  local name certificates=/etc/host-ca-certificates.crt
  if [[ -e $bare$certificates ]]; then settings+=("PIP_CERT=$certificates"); fi
  for name in http_proxy https_proxy no_proxy PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_DEFAULT_TIMEOUT; do
    if [[ -n ${!name:-} ]]; then settings+=("$name=${!name}"); fi
  done
  # shellcheck disable=SC2016  # expanded by the inner shell
  unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
      exec chroot "$1" env -i "${@:4}" bash -c "cd $2 && $3"
  ' _ "$bare" "$1" "$2" "${settings[@]}"
}

# timed FOLDER COMMAND_LINE: in_bare_root, and prints how long it took. Ends the script if the command fails.
timed() {
  local started=$SECONDS
  say "$2"
  in_bare_root "$1" "$2" || die "failed with code $?: $2"
  say "took $((SECONDS - started)) s: $2"
}
