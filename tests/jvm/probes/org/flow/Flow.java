package org.flow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.PooledByteBufAllocator;

import java.util.function.Consumer;

/** The framework: it allocates, so that users never have a ByteBuf. */
public final class Flow {
    /** Is shown each buffer that is allocated from here on; null: none. */
    public static Consumer<Object> watch;

    private Flow() {
    }

    public static ByteBuf buffer() {
        ByteBuf b = PooledByteBufAllocator.DEFAULT.directBuffer(64);
        if (watch != null) {
            watch.accept(b);
        }
        return b;
    }

    public static Frame frame() {
        return new BufFrame(buffer());
    }

    public static DefaultByteBufHolder holder() {
        return new DefaultByteBufHolder(buffer());
    }
}
