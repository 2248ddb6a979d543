package com.app;

import com.other.Elsewhere;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.string.StringEncoder;
import io.netty.util.ReferenceCountUtil;

/**
 * Buffers that Netty's StringEncoder allocates, and that no followed method ever gets. args[0]: rounds
 * after the first losses are known. With args[1] by a virtual thread.
 */
public final class BareRoots {
    private static final int LOSSES = 20;
    private static int lost;
    private static int kept;

    private BareRoots() {
    }

    public static void main(String[] args) throws Exception {
        EmbeddedChannel channel = new EmbeddedChannel();
        channel.config().setAllocator(PooledByteBufAllocator.DEFAULT);
        channel.pipeline().addLast(new StringEncoder());
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < LOSSES; i++) {
            lose(channel);
        }
        collect();
        Thread work = thread(args.length > 1, () -> work(channel, rounds));
        work.start();
        work.join();
        Elsewhere elsewhere = new Elsewhere(channel, rounds / 4);
        elsewhere.start();
        elsewhere.join();
        lost += rounds / 4;
        collect();
        Oracle.say("leaked", lost, "released", kept, "live", 0, "lives", lost + kept);
        System.out.println("READY");
        if (System.getProperty("bare.wait") != null) {
            System.in.read();
        }
    }

    private static Thread thread(boolean virtual, Runnable work) throws Exception {
        if (!virtual) {
            return new Thread(work);
        }
        Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
        return (Thread) Class.forName("java.lang.Thread$Builder").getMethod("unstarted", Runnable.class)
                .invoke(builder, work);
    }

    /** Two are released for each that is lost. */
    private static void work(EmbeddedChannel channel, int rounds) {
        for (int i = 0; i < rounds; i++) {
            lose(channel);
            keep(channel);
            keep(channel);
        }
    }

    private static void lose(EmbeddedChannel channel) {
        channel.writeOutbound("lost " + lost++);
        channel.outboundMessages().poll();
    }

    private static void keep(EmbeddedChannel channel) {
        channel.writeOutbound("kept " + kept++);
        ReferenceCountUtil.release(channel.outboundMessages().poll());
    }

    private static void collect() throws InterruptedException {
        for (int i = 0; i < 8; i++) {
            System.gc();
            Thread.sleep(100);
        }
    }
}
