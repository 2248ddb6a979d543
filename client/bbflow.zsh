#compdef bbflow
# zsh completion for bbflow, installed as site-functions/_bbflow. Commands, flags, options and their
# values come from `bbflow help words`, which the command makes from its own tables; pids from
# `bbflow list`.

# Values of the kind that a flag or option takes; reads the caller's $lines.
_bbflow_values() { # KIND
    local -a given
    case $1 in
        FILE*) _files ;; # also FILE.jfr
        REPORT)
            given=(${(s:, :)${(M)lines:#extensions *}#extensions })
            [[ ${PREFIX:t} != ?*.* ]] || compadd -- ${PREFIX:r}${^given}
            _files ;;
        DIR) _files -/ ;;
        FORMAT)
            given=(${(s:, :)${(M)lines:#formats *}#formats })
            compadd -- ${given%,} ;;
        *'|'*)
            # Capitals stand for any value.
            given=(${(M)${(s:|:)1}:#*[a-z0-9]*})
            compadd -- $given
            [[ "|$1|" != *'|FILE|'* ]] || _files ;;
    esac
}

# Targets of a kind: JVMs with the agent (agent), also snapshots; JVMs without it (free); all (any);
# files.
_bbflow_targets() { # KIND
    local line pid file name
    local -a row have
    for line in ${(f)"$($bbflow list 2>/dev/null)"}; do
        row=(${=line})
        [[ $row[1] == <-> ]] || continue
        have+=$row[1]
        [[ $1 != (free|file) ]] || continue
        compadd -- $row[1]
        # Another user chooses this name: only a plain word is offered.
        [[ -z $PREFIX || $row[2] == *[^A-Za-z0-9_.-]* ]] || compadd -- $row[2]
    done
    case $1 in
        free | any)
            for file in /proc/<->/comm(N); do
                pid=${file//[^0-9]/}
                { read -r name <$file } 2>/dev/null || continue
                [[ $name != java || ${have[(Ie)$pid]} -gt 0 ]] || compadd -- $pid
            done
            [[ $1 == free ]] || compadd -- all ;;
        snapshot) _files -g '*.(json|box)' ;;
        file) _files ;;
    esac
}

# name=value of set and attach: the value after '=', else the names; for set those that can change.
_bbflow_params() { # COMMAND
    local line name kind
    for line in ${(M)lines:#option *=*}; do
        [[ $1 != set || $line == *' live' ]] || continue
        line=${${line#option }% live}
        name=${line%%\=*}
        kind=${line#*\=}
        if [[ $PREFIX == $name=* ]]; then
            compset -P "$name="
            _bbflow_values $kind
            return
        fi
        compadd -S '' -- $name=
    done
}

_bbflow() {
    emulate -L zsh
    setopt extended_glob
    local bbflow=${words[1]/#\~/$HOME} command=$words[2] row kind word target targets
    local -a lines before
    local -i at
    lines=(${(f)"$($bbflow help words 2>/dev/null)"})
    (( CURRENT > 2 )) || {
        compadd -- ${${${(M)lines:#command *}#command }%% *} --help --version
        return
    }
    before=(${(M)lines:#command ${command//[^a-z]/}( *|)}) # without quotes, or it is one word
    row="${before[1]#command } "
    if [[ $command == jfr && $CURRENT -gt 3 ]]; then
        before=(${(M)lines:#jfr ${words[3]//[^a-z]/}( *|)})
        row="${before[1]#jfr } "
    fi

    # A flag's value is in the word after it.
    before=("${(@)words[3,CURRENT-1]}")
    for (( at = 1; at <= $#before; at++ )); do
        kind=''
        word=$before[at]
        if [[ $word == -* && $word != *=* ]]; then
            [[ $row != *" $word="[^\ ]* ]] || {
                kind=${${row#*" $word="}%% *}
                at+=1
            }
        elif [[ $word != -* && -z $target ]]; then
            target=$word
        fi
    done
    (( at > $#before + 1 )) || kind=''
    [[ $row != *' target='* ]] || targets=${${row#*' target='}%% *}

    if [[ -n $kind ]]; then
        _bbflow_values $kind
    elif [[ $PREFIX == --*=* && $row == *" ${PREFIX%%\=*}="[^\ ]* ]]; then
        kind=${${row#*" ${PREFIX%%\=*}="}%% *}
        compset -P '*='
        _bbflow_values $kind
    elif [[ $PREFIX == -* ]]; then
        for word in ${(M)${=row}:#--*}; do
            [[ $word == *=* ]] && compadd -S '' -- ${word%%\=*}= || compadd -- $word
        done
    elif [[ $command == jfr && $CURRENT -eq 3 ]]; then
        compadd -- ${${${(M)lines:#jfr *}#jfr }%% *}
    elif [[ $command == jfr ]]; then # recordings, which may be packed
        _files
    elif [[ $command == help ]]; then
        compadd -- ${${${(M)lines:#command *}#command }%% *} options
    elif [[ $command != event && $row == *' params '* && ( -n $target || $PREFIX == *=* ) ]]; then
        _bbflow_params $command
    elif [[ -n $targets && ( -z $target || $row == *' several '* ) ]]; then
        _bbflow_targets $targets
    fi
}

_bbflow "$@"
