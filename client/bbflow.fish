# fish completion for bbflow, installed as vendor_completions.d/bbflow.fish. Commands, flags, options
# and their values come from `bbflow help words`, which the command makes from its own tables; pids
# from `bbflow list`.

# Values of the kind that a flag or option takes, each behind START; LINES of `bbflow help words`.
function __bbflow_values --argument-names kind start word
    set -l lines $argv[4..]
    set -l part (string sub --start (math 1 + (string length -- "$start")) -- "$word")
    switch "$kind"
        case 'FILE*' # also FILE.jfr
            string replace -r '^' -- "$start" (__fish_complete_path "$part")
        case REPORT
            string replace -r '^' -- "$start" (__fish_complete_path "$part")
            set -l stem (string match -r -- '^(.*[^/])\.[^/.]*$' "$part")[2]
            if test -n "$stem"
                string match -r '^extensions .*' -- $lines | string replace 'extensions ' '' |
                    string split ', ' | string replace -r '^' -- "$start$stem"
            end
        case DIR
            string replace -r '^' -- "$start" (__fish_complete_directories "$part")
        case FORMAT
            string match -r '^formats .*' -- $lines | string replace 'formats ' '' |
                string split ', ' | string match -r '[a-z]+' | string replace -r '^' -- "$start"
        case '*|*'
            for value in (string split '|' -- "$kind")
                if test "$value" = FILE
                    __bbflow_values FILE "$start" "$word"
                else if string match -qr '[a-z0-9]' -- $value # capitals stand for any value
                    echo -- $start$value
                end
            end
    end
end

# Targets of a kind: JVMs with the agent (agent), also snapshots; JVMs without it (free); all (any);
# files.
function __bbflow_targets --argument-names bbflow kind word
    set -l have
    for line in ($bbflow list 2>/dev/null)
        set -l row (string split -n ' ' -- $line)
        string match -qr '^[0-9]+$' -- $row[1]; or continue
        set -a have $row[1]
        contains -- $kind free file; and continue
        # Another user chooses this name: only a plain word is offered.
        if string match -qr '^[A-Za-z0-9_.-]+$' -- "$row[2]"
            printf '%s\t%s\n' $row[1] $row[2]
            test -z "$word"; or echo -- $row[2]
        else
            echo $row[1]
        end
    end
    switch $kind
        case free any
            for file in (grep -lx java /proc/*/comm 2>/dev/null) # which are gone is not reported
                set -l pid (string match -r '[0-9]+' -- $file); or continue
                contains -- $pid $have; or echo $pid
            end
            test $kind = free; or echo all
        case snapshot
            __fish_complete_path "$word" | string match -r '^(?:.*/|.*\.(?:json|box))(?:\t.*)?$'
        case file
            __fish_complete_path "$word"
    end
end

# name=value of set and attach: the value after '=', else the names; for set those that can change.
function __bbflow_params --argument-names command word
    for line in (string match -r '^option .*=.*' -- $argv[3..])
        test $command != set; or string match -q '* live' -- $line; or continue
        set -l form (string replace -r ' live$' '' -- $line | string replace 'option ' '')
        set -l parts (string split -m 1 = -- $form)
        if string match -q -- "$parts[1]=*" "$word"
            __bbflow_values $parts[2] $parts[1]= "$word"
        else if not string match -q '*=*' -- "$word" # fish also matches within names
            echo -- $parts[1]=
        end
    end
end

function __bbflow_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l bbflow (string replace -r '^~' "$HOME" -- $before[1])
    set -l lines ($bbflow help words 2>/dev/null); or return
    set -l commands (string match -r '^command [a-z]+' -- $lines | string replace 'command ' '')
    if test (count $before) -lt 2
        printf '%s\n' $commands --help --version
        return
    end
    set -l command (string replace -ar '[^a-z]' '' -- $before[2])
    set -l row (string match -r "^command $command(?: .*|\$)" -- $lines)" "
    if test "$command" = jfr -a (count $before) -gt 2
        set row (string match -r "^jfr "(string replace -ar '[^a-z]' '' -- $before[3])"(?: .*|\$)" -- $lines)" "
    end

    # A flag's value is in the word after it.
    set -l kind ''
    set -l target ''
    for one in $before[3..]
        if test -n "$kind"
            set kind ''
        else if string match -qr '^-[^=]*$' -- $one
            set kind (string match -r -- " "(string escape --style=regex -- $one)"=([^ ]+) " "$row")[2]
        else if not string match -q -- '-*' $one; and test -z "$target"
            set target $one
        end
    end

    set -l flag (string match -r -- '^(--[a-z-]+=)' "$word")[2]
    set -l targets (string match -r -- ' target=([a-z]+) ' "$row")[2]
    if test -n "$kind"
        __bbflow_values $kind '' "$word" $lines
    else if test -n "$flag"
        set kind (string match -r -- " $flag([^ ]+) " "$row")[2]
        test -z "$kind"; or __bbflow_values $kind $flag "$word" $lines
    else if string match -q -- '-*' "$word"
        string split ' ' -- $row | string match -r -- '^--[a-z-]+=?'
    else if test "$command" = jfr -a (count $before) -eq 2
        string match -r '^jfr [a-z]+' -- $lines | string replace 'jfr ' ''
    else if test "$command" = jfr # recordings, which may be packed
        __fish_complete_path "$word"
    else if test "$command" = help
        printf '%s\n' $commands options
    else if test "$command" != event; and string match -q '* params *' -- "$row"
        and begin
            test -n "$target"; or string match -q '*=*' -- "$word"
        end
        __bbflow_params $command "$word" $lines
    else if test -n "$targets"
        and begin
            test -z "$target"; or string match -q '* several *' -- "$row"
        end
        __bbflow_targets $bbflow $targets "$word"
    end
end

complete -c bbflow -f -a '(__bbflow_complete)'
