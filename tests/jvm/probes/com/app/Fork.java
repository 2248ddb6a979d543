package com.app;

import com.fork.netty.buffer.ByteBuf;
import com.fork.netty.buffer.CompositeByteBuf;
import com.fork.netty.buffer.UnpooledHeapByteBuf;
import com.fork.netty.buffer.WrappedByteBuf;

/** Classes with the names of Netty's, whose fields have other types: nothing is read of them. */
final class Fork {
    private Fork() {
    }

    static void run() {
        use(new UnpooledHeapByteBuf());
        use(new CompositeByteBuf());
        use(new WrappedByteBuf());
        Oracle.say("used", 3);
    }

    private static void use(ByteBuf b) {
        b.refCnt();
    }
}
