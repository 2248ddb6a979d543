package com.app;

import io.netty.buffer.ByteBuf;
import jdk.jfr.Event;
import jdk.jfr.Name;

/** An event class: Flight Recorder rewrites it as well as bbflow does. */
@Name("com.app.Round")
public final class Round extends Event {
    int bytes;

    static void of(ByteBuf b) {
        Round round = new Round();
        round.begin();
        round.take(b);
        round.commit();
    }

    private void take(ByteBuf b) {
        bytes = b.readableBytes();
    }
}
