import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.ReferenceCountUtil;

import java.nio.charset.StandardCharsets;

/**
 * In the place of the Harness of tests/jvm/known-leaks: messages at full rate until the input ends. One in
 * -Dalways.every=N is the leak's own; the others are frames of a decoder that never lost any.
 */
public final class Harness {
    public interface Body {
        void run(int i) throws Throwable;
    }

    static int unreleased; // counted by a driver that looks itself

    private static final int EVERY = Integer.getInteger("always.every", 1);
    private static volatile boolean ended;

    private Harness() {
    }

    public static void main(String name, int n, Body body) throws Throwable {
        body.run(-1);
        Thread work = new Thread(() -> work(body), "messages");
        work.start();
        System.out.println("READY");
        while (System.in.read() >= 0) {
            continue;
        }
        ended = true;
        work.join();
        System.exit(0);
    }

    private static void work(Body body) {
        long i = 0;
        try {
            for (; !ended; i++) {
                if (i % EVERY == EVERY - 1) {
                    body.run((int) i);
                } else {
                    frame();
                }
            }
            System.out.println("MESSAGES " + i);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
    }

    private static void frame() {
        EmbeddedChannel channel = new EmbeddedChannel(new LengthFieldBasedFrameDecoder(1024, 0, 2, 0, 2));
        channel.writeInbound(direct(new byte[] {0, 4, 1, 2, 3, 4}));
        ReferenceCountUtil.release(channel.readInbound());
        channel.finishAndReleaseAll();
    }

    public static ByteBuf direct(byte[] bytes) {
        return PooledByteBufAllocator.DEFAULT.directBuffer(bytes.length).writeBytes(bytes);
    }

    public static ByteBuf direct(String text) {
        return direct(text.getBytes(StandardCharsets.ISO_8859_1));
    }
}
