package org.flow;

import io.netty.buffer.ByteBuf;

/** Only carriers=org.flow.Parts:parts looks into its array. */
public final class Parts {
    private final ByteBuf[] parts;

    public Parts(ByteBuf... parts) {
        this.parts = parts;
    }

    public int size() {
        return parts.length;
    }
}
