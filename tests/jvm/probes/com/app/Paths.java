package com.app;

import io.netty.buffer.ByteBuf;

/** Nine levels, two methods each: 512 paths, none of which repeats a step. */
final class Paths {
    private Paths() {
    }

    static void start(ByteBuf b, int bits, Gc lost) {
        if ((bits & 1) == 0) {
            l0(b, bits);
        } else {
            r0(b, bits);
        }
        if (bits % 2 == 0) {
            b.release();
        } else {
            lost.watch(b);
        }
    }

    private static void l0(ByteBuf b, int bits) {
        if ((bits & 2) == 0) {
            l1(b, bits);
        } else {
            r1(b, bits);
        }
    }

    private static void r0(ByteBuf b, int bits) {
        if ((bits & 2) == 0) {
            l1(b, bits);
        } else {
            r1(b, bits);
        }
    }

    private static void l1(ByteBuf b, int bits) {
        if ((bits & 4) == 0) {
            l2(b, bits);
        } else {
            r2(b, bits);
        }
    }

    private static void r1(ByteBuf b, int bits) {
        if ((bits & 4) == 0) {
            l2(b, bits);
        } else {
            r2(b, bits);
        }
    }

    private static void l2(ByteBuf b, int bits) {
        if ((bits & 8) == 0) {
            l3(b, bits);
        } else {
            r3(b, bits);
        }
    }

    private static void r2(ByteBuf b, int bits) {
        if ((bits & 8) == 0) {
            l3(b, bits);
        } else {
            r3(b, bits);
        }
    }

    private static void l3(ByteBuf b, int bits) {
        if ((bits & 16) == 0) {
            l4(b, bits);
        } else {
            r4(b, bits);
        }
    }

    private static void r3(ByteBuf b, int bits) {
        if ((bits & 16) == 0) {
            l4(b, bits);
        } else {
            r4(b, bits);
        }
    }

    private static void l4(ByteBuf b, int bits) {
        if ((bits & 32) == 0) {
            l5(b, bits);
        } else {
            r5(b, bits);
        }
    }

    private static void r4(ByteBuf b, int bits) {
        if ((bits & 32) == 0) {
            l5(b, bits);
        } else {
            r5(b, bits);
        }
    }

    private static void l5(ByteBuf b, int bits) {
        if ((bits & 64) == 0) {
            l6(b, bits);
        } else {
            r6(b, bits);
        }
    }

    private static void r5(ByteBuf b, int bits) {
        if ((bits & 64) == 0) {
            l6(b, bits);
        } else {
            r6(b, bits);
        }
    }

    private static void l6(ByteBuf b, int bits) {
        if ((bits & 128) == 0) {
            l7(b, bits);
        } else {
            r7(b, bits);
        }
    }

    private static void r6(ByteBuf b, int bits) {
        if ((bits & 128) == 0) {
            l7(b, bits);
        } else {
            r7(b, bits);
        }
    }

    private static void l7(ByteBuf b, int bits) {
        if ((bits & 256) == 0) {
            l8(b, bits);
        } else {
            r8(b, bits);
        }
    }

    private static void r7(ByteBuf b, int bits) {
        if ((bits & 256) == 0) {
            l8(b, bits);
        } else {
            r8(b, bits);
        }
    }

    private static void l8(ByteBuf b, int bits) {
        b.setByte(0, bits);
    }

    private static void r8(ByteBuf b, int bits) {
        b.setByte(0, bits);
    }
}
