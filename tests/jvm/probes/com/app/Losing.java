package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;

/**
 * losing: does what stdin says, a line each, and answers "DONE n" to the n-th line; ends with stdin.
 * "lose N": the thread "loser" drops N heap buffers of 64 bytes in Steps.leaky; "also N": the same in
 * Steps.step2; "apart N": as lose, by the thread "other"; "hold N": keeps them; "drop": releases those; "gc": garbage collections; "gc1": one;
 * "jul N": N records of java.util.logging (JulLog).
 */
final class Losing {
    private static final List<ByteBuf> HELD = new ArrayList<>();

    private Losing() {
    }

    static void run(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        Thread loser = new Thread(() -> {
            try {
                int n = 0;
                for (String line; (line = in.readLine()) != null;) {
                    obey(line.split(" "));
                    System.out.println("DONE " + ++n);
                }
            } catch (Exception e) {
                e.printStackTrace();
            }
        }, "loser");
        loser.start();
        System.out.println("READY");
        loser.join();
    }

    private static void obey(String[] words) throws Exception {
        int n = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        if (words[0].equals("apart")) {
            Thread other = new Thread(() -> open("lose", n), "other");
            other.start();
            other.join();
        } else if (words[0].equals("jul")) {
            JulLog.log(n);
        } else {
            open(words[0], n);
        }
        if (words[0].equals("drop")) {
            HELD.forEach(ByteBuf::release);
            HELD.clear();
        } else if (words[0].startsWith("gc")) {
            /* The first lets the agent's references become weak. */
            for (int i = words[0].equals("gc1") ? 2 : 0; i < 3; i++) {
                System.gc();
                Thread.sleep(200);
            }
        }
    }

    private static void open(String word, int n) {
        for (int i = 0; i < n; i++) {
            ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(64);
            switch (word) {
                case "lose":
                    Steps.leaky(b);
                    break;
                case "also":
                    Steps.step2(b);
                    break;
                default:
                    Steps.step(b);
                    HELD.add(b);
            }
        }
    }
}
