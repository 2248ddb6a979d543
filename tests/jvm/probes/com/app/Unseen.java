package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * Unseen: a buffer with the field that was opened and released while the agent was away, and is used
 * once more when it is back; and one that is lost. A line of stdin starts each part.
 */
public final class Unseen {
    private Unseen() {
    }

    public static void main(String[] args) throws Throwable {
        System.out.println("READY");
        Late.untilLine(); // attached: the field comes with Netty's classes
        use(Unpooled.directBuffer(64)).release();
        System.out.println("SEEN");
        Late.untilLine(); // stopped
        ByteBuf released = Unpooled.directBuffer(64);
        released.release();
        System.out.println("UNSEEN");
        Late.untilLine(); // attached again
        use(released);
        released = null;
        use(Unpooled.directBuffer(64));
        System.out.println("USED");
        Late.untilLine();
    }

    private static ByteBuf use(ByteBuf buffer) {
        return buffer;
    }
}
