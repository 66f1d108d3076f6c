#!/usr/bin/env bash
# Install the Debian packages that the tests need, as far as they are missing; with "bench", those of the benchmark, too.
set -euo pipefail
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

programs=( # program, and the package that has it
    nginx nginx-light
    haproxy haproxy
    gnutls-serv gnutls-bin
    openssl openssl
    node nodejs
    apache2 apache2-bin
    h2o h2o
    hitch hitch
    stunnel4 stunnel4
    javac default-jdk-headless
    promtool prometheus
    ip iproute2
    gcc gcc
    setpriv util-linux
    dovecot dovecot-core
    slapd slapd
    vsftpd vsftpd
    mariadbd mariadb-server-core
    tinyproxy tinyproxy-bin
    curl curl
    chromium chromium
    chromedriver chromium-driver
    zsh zsh
    fish fish
    groff groff-base
)
if [[ ${1-} == bench ]]; then
    programs+=(prometheus-blackbox-exporter prometheus-blackbox-exporter)
fi

missing=()
for ((i = 0; i < ${#programs[@]}; i += 2)); do
    command -v "${programs[i]}" >/dev/null || missing+=("${programs[i + 1]}")
done
for library in openssl mbedtls nss wolfssl; do # lighttpd's modules, which bring lighttpd along
    [[ -e /usr/lib/lighttpd/mod_$library.so ]] || missing+=("lighttpd-mod-$library")
done
for protocol in imap pop3; do # of Dovecot's
    [[ -e /usr/lib/dovecot/$protocol ]] || missing+=("dovecot-${protocol}d")
done
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || missing+=(postgresql)
# Debian has one mail server at a time, and would remove whatever else is installed for Exim.
command -v exim4 sendmail >/dev/null || missing+=(exim4-daemon-light)
[[ -e /usr/include/stdlib.h ]] || missing+=(libc6-dev)
# Not a program: it is preloaded, and the loader complains where it is missing.
[[ -z $(LD_PRELOAD=libnss_wrapper.so /bin/true 2>&1) ]] || missing+=(libnss-wrapper)

if ((${#missing[@]})); then
    "$(dirname "$0")/../requirements/debian.sh" "${missing[@]}"
fi
