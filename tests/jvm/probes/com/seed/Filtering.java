package com.seed;

import com.seed.alpha.Alpha;
import com.seed.alpha.deep.Deep;
import com.seed.beta.Beta;
import io.netty.buffer.ByteBuf;

/** One buffer through every package and class that include, exclude, trackConstructors name. */
final class Filtering {
    private Filtering() {
    }

    static void run() throws InterruptedException {
        ByteBuf b = Flows.allocate();
        Alpha.pass(b);
        Alpha.Inner.pass(b);
        Deep.pass(b);
        Beta.pass(b);
        Beta.Inner.pass(b);
        new Beta.Message(b);
        b.release();
        new Lost().say(1, 1);
    }
}
