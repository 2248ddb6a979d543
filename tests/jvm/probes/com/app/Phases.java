package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;

/**
 * phases PHASES ROUNDS: the same work in every phase, counted by rounds and not by time, so that
 * another tool's numbers can be compared exactly. Between the phases -Dbetween=CLASS acts.
 */
final class Phases {
    private static final Gc LOST = new Gc();

    private Phases() {
    }

    static void run(String[] args) throws Exception {
        int phases = Integer.parseInt(args[0]);
        int rounds = Integer.parseInt(args[1]);
        String name = System.getProperty("between");
        BetweenPhases between = name == null ? phase -> { }
                : (BetweenPhases) Class.forName(name).getDeclaredConstructor().newInstance();
        int direct = 0;
        int heap = 0;
        StringBuilder words = new StringBuilder();
        for (int phase = 1; phase <= phases; phase++) {
            String word = null;
            for (int i = 0; i < rounds; i++) {
                word = direct(i, i % 50 == 7);
                heap(i, i % 100 == 3);
                direct += i % 50 == 7 ? 1 : 0;
                heap += i % 100 == 3 ? 1 : 0;
            }
            words.append(words.length() > 0 ? "," : "").append(word);
            between.after(phase);
        }
        int lives = 2 * phases * rounds;
        Oracle.say("lives", lives, "released", lives - direct - heap, "leaked", direct + heap,
                "direct", direct, "heap", heap, "words", words, "collected", LOST.settle());
    }

    private static String direct(int i, boolean lose) {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        int twice = i * 2;
        Steps.step(b);
        b.writeInt(twice);
        String word = Redefinable.of(b);
        if (lose) {
            LOST.watch(b);
            Steps.leaky(b);
        } else {
            Steps.done(b);
        }
        return word;
    }

    private static void heap(int i, boolean lose) {
        ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(32);
        Steps.step2(b.retain());
        b.release();
        if (lose) {
            LOST.watch(b);
        } else {
            Steps.done(b.touch(i));
        }
    }
}
