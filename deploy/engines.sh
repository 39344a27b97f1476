#!/usr/bin/env bash
# Installs the engines for the distributed suites on Debian: nats-server, a JDK and Maven (the MongoDB test engine),
# Chromium, nginx, Caddy, versitygw (the S3 test engine), libfaketime (sets the clock of a process), the tools that
# check deploy/ (promtool, helm, kubectl-validate, kube-score, compose-spec), and those that check protocols
# (connectconformance, h2spec). Safe to repeat: installed programs are skipped. If a step fails, the script reports it
# and continues; the exit code is 0 only if everything is installed. Go programs are installed in .cache/engines, where
# the tests find them: a link to a folder of the user's cache, which the checkouts with the same versions share.
set -u

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
engines=$root/.cache/engines
nats_version=v2.15.2
versitygw_version=v1.8.0
helm_version=v4.3.1
kubectl_validate_version=v0.0.4
compose_version=v2.16.2
kube_score_version=v1.20.0
connect_version=v1.0.7
h2spec_version=v2.2.1+incompatible
caddy_version=v2.10.2
missing=()
apt_updated=

# Programs of other versions are in other folders.
if [ ! -e "$engines" ]; then
  versions=$(grep -E '^[a-z0-9_]+_version=' "${BASH_SOURCE[0]}" | cksum | cut -d ' ' -f 1)
  shared=${XDG_CACHE_HOME:-$HOME/.cache}/gleaner/tools/engines-$versions
  mkdir -p "$shared" "$root/.cache"
  ln -sfn "$shared" "$engines"
fi

say() { printf 'engines: %s\n' "$*"; }

# Prints the path of a program on PATH, in the system folders, or in .cache/engines.
find_program() {
  PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:$engines command -v "$1"
}

# Runs a command as root: directly, or with sudo if it asks for no password.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif sudo -n true 2>/dev/null; then sudo -n "$@"
  else return 1
  fi
}

apt_install() {
  if ! command -v apt-get >/dev/null; then say "  apt-get is not available"; return 1; fi
  if ! as_root true; then say "  apt-get needs root or sudo without a password"; return 1; fi
  if [ -z "$apt_updated" ]; then
    as_root apt-get -qq update || say "  apt-get update failed; using the existing package lists"
    apt_updated=yes
  fi
  say "  apt-get install $*"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install "$@" >/dev/null
}

go_install() {
  local go
  if ! go=$(PATH=$PATH:/usr/local/go/bin command -v go); then say "  Go is not installed"; return 1; fi
  mkdir -p "$engines"
  say "  go install $1 to .cache/engines (takes a minute or two)"
  # Run outside the project, which is not a Go module.
  (cd / && GOBIN=$engines "$go" install "$1")
}

# step <program> <purpose> <installer>...: runs the installers in turn until the program is found.
step() {
  local program=$1 purpose=$2 way place
  shift 2
  if place=$(find_program "$program"); then say "$program: $place"; return; fi
  say "$program ($purpose) is missing"
  for way in "$@"; do
    if $way && place=$(find_program "$program"); then say "$program: $place"; return; fi
  done
  say "$program could not be installed"
  missing+=("$program")
}

nats_by_apt() { apt_install nats-server; }
nats_by_go() { go_install "github.com/nats-io/nats-server/v2@$nats_version"; }
versitygw_by_go() { go_install "github.com/versity/versitygw/cmd/versitygw@$versitygw_version"; }
helm_by_go() { go_install "helm.sh/helm/v4/cmd/helm@$helm_version"; }
kubectl_validate_by_go() { go_install "sigs.k8s.io/kubectl-validate@$kubectl_validate_version"; }
connect_by_go() { go_install "connectrpc.com/conformance/cmd/connectconformance@$connect_version"; }
kube_score_by_go() { go_install "github.com/zegl/kube-score/cmd/kube-score@$kube_score_version"; }
h2spec_by_go() { go_install "github.com/summerwind/h2spec/cmd/h2spec@$h2spec_version"; }
# The program is named after its folder, cmd.
compose_by_go() {
  go_install "github.com/compose-spec/compose-go/v2/cmd@$compose_version" && mv "$engines/cmd" "$engines/compose-spec"
}
jdk_by_apt() { apt_install default-jdk-headless; }
maven_by_apt() { apt_install maven; }
# Takes one program out of the package, whose installation would start a server.
promtool_by_apt() {
  local folder
  if ! command -v apt-get >/dev/null; then say "  apt-get is not available"; return 1; fi
  mkdir -p "$engines" && folder=$(mktemp -d) || return 1
  say "  promtool of the package prometheus to .cache/engines"
  (cd "$folder" && apt-get -qq download prometheus && dpkg-deb -x prometheus_*.deb .) &&
    cp "$folder/usr/bin/promtool" "$engines/promtool"
  local result=$?
  rm -rf "$folder"
  return $result
}
# The library alone: find_program finds executable files only.
faketime_by_apt() {
  local folder
  if ! command -v apt-get >/dev/null; then say "  apt-get is not available"; return 1; fi
  mkdir -p "$engines" && folder=$(mktemp -d) || return 1
  say "  the library of the package libfaketime to .cache/engines"
  (cd "$folder" && apt-get -qq download libfaketime && dpkg-deb -x libfaketime_*.deb .) &&
    install -m 755 "$folder"/usr/lib/*/faketime/libfaketimeMT.so.1 "$engines/"
  local result=$?
  rm -rf "$folder"
  return $result
}
chromium_by_apt() { apt_install chromium; }
nginx_by_apt() { apt_install nginx-light; }
# That of Debian 12 takes responses that break off for complete ones.
caddy_by_go() { go_install "github.com/caddyserver/caddy/v2/cmd/caddy@$caddy_version"; }

step nats-server 'the queue' nats_by_apt nats_by_go
# The JDK, because the MongoDB test engine is started from its source file.
step javac 'the MongoDB test engine' jdk_by_apt
step mvn 'downloads the MongoDB test engine' maven_by_apt
step chromium 'marketplaces that need a browser' chromium_by_apt
step nginx 'a reverse proxy' nginx_by_apt
step caddy 'a reverse proxy' caddy_by_go
step promtool 'checks of the alert rules' promtool_by_apt
step libfaketimeMT.so.1 'sets the clock of a process' faketime_by_apt
step versitygw 'the S3 test engine' versitygw_by_go
step helm 'renders the chart' helm_by_go
step kubectl-validate 'checks the rendered chart against the schemas of Kubernetes' kubectl_validate_by_go
step connectconformance 'checks the protocols of RPC' connect_by_go
step kube-score 'checks the Helm chart' kube_score_by_go
step h2spec 'checks the protocol of the gRPC port' h2spec_by_go
step compose-spec 'checks deploy/compose.yaml' compose_by_go

if [ ${#missing[@]} -gt 0 ]; then
  say "not installed: ${missing[*]}"
  exit 1
fi
say 'everything is there'
