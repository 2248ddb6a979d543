package com.app;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;

/**
 * exits exit|halt|main: 16,384 lives, each on a path of its own (which of 14 steps it takes), so
 * that the report has megabytes. Prints "READY" and ends in that way, with the code 7, 9 or 0, as
 * soon as a byte comes in.
 */
final class Exits {
    private static final int STEPS = 14;

    private Exits() {
    }

    static void run(String[] args) throws Exception {
        for (int path = 0; path < 1 << STEPS; path++) {
            ByteBuf b = UnpooledByteBufAllocator.DEFAULT.heapBuffer(16);
            for (int i = 0; i < STEPS; i++) {
                if ((path >> i & 1) != 0) {
                    step(b, i);
                }
            }
            b.release();
        }
        System.out.println("READY");
        System.out.flush();
        System.in.read();
        if (args[0].equals("exit")) {
            System.exit(7);
        } else if (args[0].equals("halt")) {
            Runtime.getRuntime().halt(9);
        }
    }

    private static void step(ByteBuf b, int i) {
        switch (i) {
        case 0:
            s0(b);
            break;
        case 1:
            s1(b);
            break;
        case 2:
            s2(b);
            break;
        case 3:
            s3(b);
            break;
        case 4:
            s4(b);
            break;
        case 5:
            s5(b);
            break;
        case 6:
            s6(b);
            break;
        case 7:
            s7(b);
            break;
        case 8:
            s8(b);
            break;
        case 9:
            s9(b);
            break;
        case 10:
            s10(b);
            break;
        case 11:
            s11(b);
            break;
        case 12:
            s12(b);
            break;
        default:
            s13(b);
        }
    }

    private static void s0(ByteBuf b) {
    }

    private static void s1(ByteBuf b) {
    }

    private static void s2(ByteBuf b) {
    }

    private static void s3(ByteBuf b) {
    }

    private static void s4(ByteBuf b) {
    }

    private static void s5(ByteBuf b) {
    }

    private static void s6(ByteBuf b) {
    }

    private static void s7(ByteBuf b) {
    }

    private static void s8(ByteBuf b) {
    }

    private static void s9(ByteBuf b) {
    }

    private static void s10(ByteBuf b) {
    }

    private static void s11(ByteBuf b) {
    }

    private static void s12(ByteBuf b) {
    }

    private static void s13(ByteBuf b) {
    }
}
