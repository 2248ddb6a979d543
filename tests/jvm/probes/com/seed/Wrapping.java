package com.seed;

import io.netty.buffer.ByteBuf;

/** A buffer in an object of the application: seen where it goes in and where it comes out. */
final class Wrapping {
    private Wrapping() {
    }

    static final class Envelope {
        private final ByteBuf payload;
        private final String id;

        public Envelope(ByteBuf payload, String id) {
            this.payload = payload;
            this.id = id;
        }

        public ByteBuf getPayload() {
            return payload;
        }

        public String id() {
            return id;
        }
    }

    static void run() throws InterruptedException {
        ByteBuf b = Flows.allocate();
        Envelope envelope = wrap(b, "e1");
        checkId(envelope);
        ByteBuf out = unwrap(envelope);
        release(out);
        new Lost().say(1, 1);
    }

    static Envelope wrap(ByteBuf b, String id) {
        return new Envelope(b, id);
    }

    /** Sees the envelope only. */
    static void checkId(Envelope envelope) {
        if (envelope.id().isEmpty()) {
            throw new IllegalStateException();
        }
    }

    static ByteBuf unwrap(Envelope envelope) {
        return envelope.getPayload();
    }

    static void release(ByteBuf b) {
        b.release();
    }
}
