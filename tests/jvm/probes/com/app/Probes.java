package com.app;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The probes: one sub-command for each thing that a tracker gets wrong if it guesses. Each one
 * knows what it did and says it on one line, "ORACLE name=value …", which tests/jvm/cases.py
 * compares with what bbflow says. Usage: Probes COMMAND [ARGS…] [, COMMAND [ARGS…]]…: one after the other.
 */
public final class Probes {
    interface Command {
        void run(String[] args) throws Throwable;
    }

    private static final Map<String, Command> COMMANDS = new LinkedHashMap<>();

    static {
        COMMANDS.put("cycles", Cycles::run);
        COMMANDS.put("default", Basics::twoOfDefault);
        COMMANDS.put("holder", Basics::holder);
        COMMANDS.put("manyleaks", Basics::manyLeaks);
        COMMANDS.put("inuse", Basics::inUse);
        COMMANDS.put("thread", Basics::thread);
        COMMANDS.put("async", Basics::async);
        COMMANDS.put("written", Written::run);
        COMMANDS.put("constants", Constants::run);
        COMMANDS.put("sampled", Sampled::run);
        COMMANDS.put("unreleasable", args -> Unreleasable.run());
        COMMANDS.put("aged", Aged::run);
        COMMANDS.put("slice", Derived::correct);
        COMMANDS.put("sliceleak", Derived::leaked);
        COMMANDS.put("sigs", Signatures::run);
        COMMANDS.put("returns", Signatures::returns);
        COMMANDS.put("objects", Objects::run);
        COMMANDS.put("holders", Objects::holders);
        COMMANDS.put("constructors", Objects::constructors);
        COMMANDS.put("memory", Objects::memory);
        COMMANDS.put("unloaded", Unloaded::run);
        COMMANDS.put("headers", Headers::run);
        COMMANDS.put("stopped", Stopped::run);
        COMMANDS.put("ends", Ends::run);
        COMMANDS.put("virtual", Virtual::run);
        COMMANDS.put("travel", Travel::run);
        COMMANDS.put("codecs", Codecs::run);
        COMMANDS.put("lists", Containers::lists);
        COMMANDS.put("decoders", Containers::decode);
        COMMANDS.put("composites", Composites::run);
        COMMANDS.put("replaying", Replaying::run);
        COMMANDS.put("transport", Transport::run);
        COMMANDS.put("blame", Blame::run);
        COMMANDS.put("contexts", Contexts::run);
        COMMANDS.put("chunks", Greedy::chunks);
        COMMANDS.put("wrapped", Greedy::wrapped);
        COMMANDS.put("derived", Greedy::derived);
        COMMANDS.put("limit", Load::limit);
        COMMANDS.put("stall", Load::stall);
        COMMANDS.put("threads", Load::threads);
        COMMANDS.put("race", Load::race);
        COMMANDS.put("hash", Load::hash);
        COMMANDS.put("http", Http::run);
        COMMANDS.put("carriers", Carriers::run);
        COMMANDS.put("oldcarriers", Carriers::old);
        COMMANDS.put("oldnetty", OldNetty::run);
        COMMANDS.put("two", Two::run);
        COMMANDS.put("busy", Busy::run);
        COMMANDS.put("phases", Phases::run);
        COMMANDS.put("stress", Stress::run);
        COMMANDS.put("serve", Serve::run);
        COMMANDS.put("exits", Exits::run);
        COMMANDS.put("spend", Spend::run);
        COMMANDS.put("watched", Watched::run);
        COMMANDS.put("rounds", Rounds::run);
        COMMANDS.put("losing", Losing::run);
        COMMANDS.put("jmx", arguments -> Jmx.run(arguments)); // not linked before it is called
        COMMANDS.put("till", com.shop.Till::run);
        COMMANDS.put("redefined", Redefined::run);
        COMMANDS.put("idle", Idle::run);
        COMMANDS.put("older", Older::run);
        COMMANDS.put("exhausted", Exhausted::run);
        COMMANDS.put("opened", Opened::run);
        COMMANDS.put("misuse", Misuse::run);
        COMMANDS.put("refs", Refs::run);
        COMMANDS.put("immortal", Immortal::run);
        COMMANDS.put("ownpool", OwnPool::run);
        COMMANDS.put("copied", Copied::run);
        COMMANDS.put("fork", args -> Fork.run());
        COMMANDS.put("early", Early::run);
        COMMANDS.put("sizes", Sizes::run);
        COMMANDS.put("exit", args -> System.exit(Integer.parseInt(args[0])));
        COMMANDS.put("throw", args -> {
            throw new IllegalStateException("on purpose");
        });
    }

    private Probes() {
    }

    public static void main(String[] args) throws Throwable {
        int comma = Arrays.asList(args).indexOf(",");
        if (comma >= 0) {
            main(Arrays.copyOf(args, comma));
            main(Arrays.copyOfRange(args, comma + 1, args.length));
            return;
        }
        Command command = args.length > 0 ? COMMANDS.get(args[0]) : null;
        if (command == null) {
            System.err.println("usage: Probes " + String.join("|", COMMANDS.keySet()) + " [ARGS]");
            System.exit(2);
        }
        command.run(Arrays.copyOfRange(args, 1, args.length));
    }
}
