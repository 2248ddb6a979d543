# shellcheck shell=bash
# bash completion for bbflow. Commands, flags and options come from `bbflow help words`, which the
# command makes from its own tables; pids from `bbflow list`.

# Values of the kind that a flag or option takes: FILE, DIR, N, or words joined with '|'.
_bbflow_values() { # KIND WORD; reads the caller's $words
    case $1 in
        FILE) compgen -f -- "$2" ;;
        DIR) compgen -d -- "$2" ;;
        FORMAT) compgen -W "$(sed -n 's/^formats //p' <<<"$words" | tr -d ,)" -- "$2" ;;
        ORDER) compgen -W 'worst lost new rate bytes speed oldest place' -- "$2" ;;
        P) compgen -W 'auto 1 2' -- "$2" ;;
        RECEIVER) compgen -W 'otlp pprof prom' -- "$2" ;;
        *'|'*)
            local word words=()
            IFS='|' read -r -a words <<<"$1"
            for word in "${words[@]}"; do
                case $word in
                    FILE) compgen -f -- "$2" ;;
                    *[!A-Z]*) compgen -W "$word" -- "$2" ;; # capitals stand for any value
                esac
            done
            ;;
    esac
}

# JVMs: with the agent for every command but attach, which takes one without it; then snapshots.
_bbflow_targets() { # BBFLOW COMMAND WORD
    local pid main file with=' '
    while read -r pid main _; do
        [[ $pid =~ ^[0-9]+$ ]] || continue
        with+="$pid "
        [ "$2" != attach ] || continue
        compgen -W "$pid" -- "$3"
        # Another user chooses this name: nothing of it may reach the shell but a plain word.
        [ -z "$3" ] || [[ ! $main =~ ^[A-Za-z0-9_.-]+$ ]] || compgen -W "$main" -- "$3"
    done < <("$1" list 2>/dev/null)
    case $2 in
        attach)
            for file in /proc/[0-9]*/comm; do
                pid=${file//[!0-9]/}
                read -r main 2>/dev/null <"$file" || continue
                if [[ $main == java && $with != *" $pid "* ]]; then
                    compgen -W "$pid" -- "$3"
                fi
            done
            ;;
        tree | leaks | top | ui | summary | why | llm | dump | check | diff | merge | push)
            [ -z "$3" ] || compgen -d -S / -- "$3"
            compgen -f -X '!*.json' -- "$3"
            ;;
    esac
}

# name=value of set and attach: the value after '=', else the names; for set those that can change.
_bbflow_params() { # WORDS COMMAND WORD
    local line name kind live
    while read -r line; do
        [[ $line =~ ^option\ ([A-Za-z]+)(=([^ ]*))?(\ live)?$ ]] || continue
        name=${BASH_REMATCH[1]}${BASH_REMATCH[2]:+=}
        kind=${BASH_REMATCH[3]}
        live=${BASH_REMATCH[4]}
        if [ "$2" = set ] && [ -z "$live" ]; then
            continue
        fi
        if [[ $name == *= && $3 == "$name"* ]]; then
            _bbflow_values "$kind" "${3#"$name"}" | sed "s/^/$name/"
        elif [[ $name == *= ]]; then
            compgen -W "$name" -- "$3"
        fi
    done <<<"$1"
}

_bbflow() {
    local bbflow=${COMP_WORDS[0]/#\~/$HOME} line=${COMP_LINE:0:COMP_POINT}
    local words word command='' row='' kind=''
    local IFS=$' \t\n' before=() i target=''
    # Split at blanks, not at '=' and ':' as COMP_WORDS is.
    read -r -a before <<<"$line"
    case $line in
        *[[:space:]]) word='' ;;
        *)
            word=${before[-1]}
            unset 'before[-1]'
            ;;
    esac
    words=$("$bbflow" help words 2>/dev/null) || return
    command=${before[1]:-}
    if [ ${#before[@]} -gt 1 ]; then
        row=$(sed -n "s/^command ${command//[^a-z]/}\( .*\|\)$/\1 /p" <<<"$words")
    fi
    if [ "$command" = jfr ] && [ ${#before[@]} -gt 2 ]; then
        row=$(sed -n "s/^jfr ${before[2]//[^a-z]/}\( .*\|\)$/\1 /p" <<<"$words")
    fi

    # A flag's value is in the word after it.
    for ((i = 2; i < ${#before[@]}; i++)); do
        kind=''
        if [[ ${before[i]} == -* && ${before[i]} != *=* ]] &&
            [[ $row =~ \ "${before[i]}"=([^ ]+)\  ]]; then
            kind=${BASH_REMATCH[1]}
            i=$((i + 1))
        elif [[ ${before[i]} != -* && -z $target ]]; then
            target=${before[i]}
        fi
    done
    [ $i -gt ${#before[@]} ] || kind=''

    if [ ${#before[@]} -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^command \([a-z]*\).*/\1/p' <<<"$words")
--help
--version" -- "$word")
    elif [ -n "$kind" ]; then
        mapfile -t COMPREPLY < <(_bbflow_values "$kind" "$word")
    elif [[ $word == --*=* && $row =~ \ "${word%%=*}"=([^ ]+)\  ]]; then
        kind=${BASH_REMATCH[1]}
        mapfile -t COMPREPLY < <(_bbflow_values "$kind" "${word#*=}" | sed "s|^|${word%%=*}=|")
    elif [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(tr ' ' '\n' <<<"$row" |
            sed -n 's/^\(--[a-z-]*=\{0,1\}\).*/\1/p')" -- "$word")
    elif [ "$command" = jfr ] && [ ${#before[@]} -eq 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^jfr \([a-z]*\).*/\1/p' <<<"$words")" -- "$word")
    elif [ "$command" = jfr ]; then # recordings, which may be packed
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [ "$command" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^command \([a-z]*\).*/\1/p' <<<"$words")
options" -- "$word")
    elif [[ $command != event && $row == *' params '* && ( -n $target || $word == *=* ) ]]; then
        mapfile -t COMPREPLY < <(_bbflow_params "$words" "$command" "$word")
    elif [[ $row == *' target '* && ( -z $target || $row == *' several '* ) ]]; then
        mapfile -t COMPREPLY < <(_bbflow_targets "$bbflow" "$command" "$word")
    fi

    # No blank after "name=" and "folder/". Readline replaces only what follows the last '=' or ':'.
    if [ ${#COMPREPLY[@]} -eq 1 ] && [[ ${COMPREPLY[0]} == *[=/] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    local cut=${word%"${word##*[=:]}"}
    if [[ $COMP_WORDBREAKS == *[=:]* && -n $cut ]]; then
        COMPREPLY=("${COMPREPLY[@]#"$cut"}")
    fi
}

complete -F _bbflow bbflow
