package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.util.ArrayList;
import java.util.List;

/**
 * exhausted ERRORS MS: takes direct buffers of 1 MiB, MS after the first one, until there is no
 * direct memory, until ERRORS errors were thrown; keeps what it has until stdin closes, and lets go
 * of one buffer before the end.
 */
final class Exhausted {
    private static final int MIB = 1 << 20;
    private static final List<ByteBuf> KEPT = new ArrayList<>();

    private Exhausted() {
    }

    static void run(String[] args) throws InterruptedException {
        int errors = 0;
        KEPT.add(keep(UnpooledByteBufAllocator.DEFAULT.directBuffer(MIB, MIB)));
        Thread.sleep(Integer.parseInt(args[1]));
        while (errors < Integer.parseInt(args[0])) {
            try {
                KEPT.add(keep(UnpooledByteBufAllocator.DEFAULT.directBuffer(MIB, MIB)));
            } catch (OutOfMemoryError e) {
                errors++;
                Thread.sleep(300); // for the report that may follow
            }
        }
        Oracle.say("errors", errors, "lives", KEPT.size(), "live", KEPT.size() - 1, "released", 1,
                "leaked", 0);
        Serve.untilStdinCloses();
        Steps.done(KEPT.get(0));
    }

    private static ByteBuf keep(ByteBuf b) {
        return b;
    }
}
