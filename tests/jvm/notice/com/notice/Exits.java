package com.notice;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** Ways to end a JVM; what it says on the way and its exit code are the same with and without us. */
public final class Exits {
    private Exits() {
    }

    static CountDownLatch last;

    static void say(String text) {
        System.out.println(text);
        System.err.println("err: " + text);
    }

    static int use(ByteBuf b, int code) {
        b.release();
        return code;
    }

    /** Hooks run at once, in no order: each waits for the one before. */
    static void hooks() {
        CountDownLatch before = new CountDownLatch(0);
        for (int i = 0; i < 3; i++) {
            CountDownLatch waits = before, done = new CountDownLatch(1);
            int n = i;
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    waits.await();
                } catch (InterruptedException e) {
                    say("interrupted");
                }
                say("hook " + n + " " + use(Unpooled.buffer(4), n));
                done.countDown();
            }, "hook-" + i));
            before = done;
        }
        last = before;
    }

    public static void main(String[] args) throws Exception {
        hooks();
        Unpooled.directBuffer(8).writeInt(1); // lost
        switch (args[0]) {
        case "return" -> say("returns");
        case "exit" -> System.exit(use(Unpooled.buffer(4), 3));
        case "exit in a thread" -> {
            Thread t = new Thread(() -> System.exit(use(Unpooled.buffer(4), 4)));
            t.start();
            t.join();
        }
        case "exit in finally" -> {
            try {
                Subject.thrown(Unpooled.buffer(4), 2);
            } finally {
                System.exit(use(Unpooled.buffer(4), 5));
            }
        }
        case "halt" -> Runtime.getRuntime().halt(use(Unpooled.buffer(4), 6));
        case "halt in a hook" -> {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    last.await();
                } catch (InterruptedException e) {
                    say("interrupted");
                }
                Runtime.getRuntime().halt(7);
            }));
            Runtime.getRuntime().exit(8);
        }
        case "uncaught" -> Subject.thrown(Unpooled.buffer(4), 3);
        case "uncaught in a thread" -> {
            Thread t = new Thread(() -> Subject.thrown(Unpooled.buffer(4), 3), "dies");
            t.start();
            t.join();
        }
        case "handler" -> {
            Thread.setDefaultUncaughtExceptionHandler((t, e) -> say("handled " + e));
            Subject.thrown(Unpooled.buffer(4), 3);
        }
        case "static" -> say("never " + Subject.Broken.N);
        case "overflow" -> Subject.downAlone();
        case "memory" -> {
            List<ByteBuf> all = new ArrayList<>();
            while (true)
                all.add(Unpooled.buffer(1 << 20));
        }
        case "memory caught" -> {
            List<ByteBuf> all = new ArrayList<>();
            try {
                while (true)
                    all.add(Unpooled.buffer(1 << 20));
            } catch (OutOfMemoryError e) {
                all.forEach(ByteBuf::release);
                all = null;
                say("caught " + e.getMessage());
            }
        }
        case "daemon" -> {
            Thread t = new Thread(() -> {
                while (true)
                    use(Unpooled.buffer(4), 0);
            });
            t.setDaemon(true);
            t.start();
        }
        case "last thread" -> new Thread(() -> {
            try {
                Thread.sleep(200);
            } catch (InterruptedException e) {
                say("interrupted");
            }
            say("after main");
        }).start();
        case "signal" -> {
            say("READY");
            Thread.sleep(60000);
        }
        default -> throw new IllegalArgumentException(args[0]);
        }
    }
}
