/// The POSIX shell program that creates, supervises and removes a server.
///
/// It reports in lines on standard output: `ready`, or `failed` with the step's name and then the end of the
/// log. Its standard input is a pipe whose other end only the host process has: when that closes, by a call or
/// by the host's end, the shell stops the server and removes its folder. It runs as the server's user, in a
/// session of its own so that a Ctrl-C in the host's terminal does not reach it or the server.
///
/// Passed in an environment variable, which keeps process lists readable.
enum SupervisorScript {
    static let command = #"eval "$KINDRED_SUPERVISOR""#

    static let text = #"""
        bin=$1 folder=$2 host=$3
        settings=$KINDRED_SETTINGS locale=$KINDRED_LOCALE primary=$KINDRED_PRIMARY
        superuser=$KINDRED_SUPERUSER password=$KINDRED_PASSWORD
        unset KINDRED_SUPERVISOR KINDRED_SETTINGS KINDRED_LOCALE KINDRED_PRIMARY KINDRED_SUPERUSER KINDRED_PASSWORD
        data=$folder/data log=$folder/log
        # Signals end the server, never this shell before it has cleaned up; a host that no longer reads does neither.
        server= ending=
        trap 'ending=yes; [ -z "$server" ] || stop_server &' HUP INT TERM
        trap '' PIPE
        umask 077
        # The folder the host is in may be closed to the server's user.
        cd /
        exec 3<&0 </dev/null 2>/dev/null

        # An immediate shutdown. Repeated, because a starting server ignores the signal.
        stop_server() { while kill -QUIT "$server"; do sleep 0.1 || sleep 1; done >/dev/null; }

        fail() {
            printf 'failed %s\n' "$1"
            tail -n 20 "$log" 2>/dev/null
            rm -rf "$folder"
            exit 1
        }

        [ -x "$bin/initdb" ] && [ -x "$bin/postgres" ] || { printf 'failed access\n'; exit 1; }
        mkdir "$folder" 2>/dev/null || { printf 'failed folder\n'; exit 1; }

        # The processes whose end makes this folder stale, and the namespace of their numbers.
        space=$(readlink /proc/self/ns/pid || uname -n)
        printf '%s %s %s\n' "$host" "$$" "$space" >"$folder/owner" || fail folder

        initialize() {
            "$bin/initdb" -D "$data" -U "$superuser" --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --no-sync --no-instructions \
                ${password:+--pwfile="$folder/password"} "$@" \
                >"$log" 2>&1 3<&-
        }
        # $locale is a list of options. Without that locale the system has C.
        if [ -z "$primary" ]; then
            if [ -n "$password" ]; then
                printf '%s\n' "$password" >"$folder/password" || fail folder
            fi
            initialize $locale || { rm -rf "$data"; initialize --locale=C; } || fail initdb
            if [ -n "$password" ]; then
                printf 'local all "%s" scram-sha-256\nlocal all all trust\n' "$superuser" >"$data/pg_hba.conf" || fail folder
                rm -f "$folder/password"
                unset password
            fi
        else
            "$bin/pg_basebackup" -D "$data" -h "$primary" -p \#(EmbeddedPostgres.port) -U postgres -R -X stream -c fast --no-sync \
                >"$log" 2>&1 3<&- || fail copy
        fi
        printf '%s' "$settings" >>"$data/postgresql.conf" || fail folder
        : >"$log"

        "$bin/postgres" -D "$data" -c unix_socket_directories="$folder" >>"$log" 2>&1 3<&- &
        server=$!
        [ -z "$ending" ] || stop_server &

        # The watchdog: waits for the end of the input.
        { while IFS= read -r _; do :; done <&3; stop_server; } >/dev/null &
        watchdog=$!
        exec 3<&-

        # The eighth line of this file becomes "ready" when the server accepts connections.
        is_ready() {
            [ -r "$data/postmaster.pid" ] || return 1
            while IFS= read -r line; do
                case $line in ready*) return 0 ;; esac
            done <"$data/postmaster.pid"
            return 1
        }
        until is_ready; do
            kill -0 "$server" || { kill "$watchdog"; fail start; }
            sleep 0.01 || sleep 1
        done
        printf 'ready\n'

        # Frees the shared memory segment of a killed server, which the seventh line names.
        free_memory() {
            [ -r "$1/postmaster.pid" ] || return 0
            number=0
            while read -r _ segment; do
                number=$((number + 1))
                [ "$number" -eq 7 ] && ipcrm -m "$segment"
            done <"$1/postmaster.pid"
        }

        # Removes the stale folders of killed supervisors and hosts, and stops their running servers.
        is_alive() { kill -0 "$1" || [ -d "/proc/$1" ] || ps -p "$1" >/dev/null; }
        command_of() { tr '\0' ' ' <"/proc/$1/cmdline" || ps -p "$1" -o args=; }
        remove_stale() {
            for old in "${folder%/*}"/kindred-pg-*; do
                [ "$old" != "$folder" ] && [ -d "$old" ] && [ ! -L "$old" ] && [ -O "$old" ] || continue
                read -r old_host old_supervisor old_space <"$old/owner" || continue
                [ "$old_space" = "$space" ] && ! is_alive "$old_supervisor" && ! is_alive "$old_host" || continue
                if read -r pid <"$old/data/postmaster.pid"; then
                    case $(command_of "$pid") in
                    *"$old/data"*)
                        kill -QUIT "$pid"
                        tries=0
                        while kill -0 "$pid" && [ "$tries" -lt 100 ]; do sleep 0.1 || sleep 1; tries=$((tries + 1)); done
                        ;;
                    esac
                fi
                free_memory "$old/data"
                rm -rf "$old"
            done
        }
        remove_stale >/dev/null &

        # A trapped signal interrupts wait, hence the loop.
        while kill -0 "$server"; do wait "$server"; done
        kill "$watchdog"
        free_memory "$data"
        rm -rf "$folder"
        """#
}
