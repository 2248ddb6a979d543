package com.proof;

import io.netty.buffer.ByteBuf;

/** Five levels of sixteen methods: 1,048,576 paths. Written by a loop, not by hand. */
final class Levels {
    static ByteBuf buffer;

    private Levels() {
    }

    static void step(int level, int which) {
        ByteBuf b = buffer;
        switch (level << 4 | which) {
        case 0:
            m0(b);
            break;
        case 1:
            m1(b);
            break;
        case 2:
            m2(b);
            break;
        case 3:
            m3(b);
            break;
        case 4:
            m4(b);
            break;
        case 5:
            m5(b);
            break;
        case 6:
            m6(b);
            break;
        case 7:
            m7(b);
            break;
        case 8:
            m8(b);
            break;
        case 9:
            m9(b);
            break;
        case 10:
            m10(b);
            break;
        case 11:
            m11(b);
            break;
        case 12:
            m12(b);
            break;
        case 13:
            m13(b);
            break;
        case 14:
            m14(b);
            break;
        case 15:
            m15(b);
            break;
        case 16:
            m16(b);
            break;
        case 17:
            m17(b);
            break;
        case 18:
            m18(b);
            break;
        case 19:
            m19(b);
            break;
        case 20:
            m20(b);
            break;
        case 21:
            m21(b);
            break;
        case 22:
            m22(b);
            break;
        case 23:
            m23(b);
            break;
        case 24:
            m24(b);
            break;
        case 25:
            m25(b);
            break;
        case 26:
            m26(b);
            break;
        case 27:
            m27(b);
            break;
        case 28:
            m28(b);
            break;
        case 29:
            m29(b);
            break;
        case 30:
            m30(b);
            break;
        case 31:
            m31(b);
            break;
        case 32:
            m32(b);
            break;
        case 33:
            m33(b);
            break;
        case 34:
            m34(b);
            break;
        case 35:
            m35(b);
            break;
        case 36:
            m36(b);
            break;
        case 37:
            m37(b);
            break;
        case 38:
            m38(b);
            break;
        case 39:
            m39(b);
            break;
        case 40:
            m40(b);
            break;
        case 41:
            m41(b);
            break;
        case 42:
            m42(b);
            break;
        case 43:
            m43(b);
            break;
        case 44:
            m44(b);
            break;
        case 45:
            m45(b);
            break;
        case 46:
            m46(b);
            break;
        case 47:
            m47(b);
            break;
        case 48:
            m48(b);
            break;
        case 49:
            m49(b);
            break;
        case 50:
            m50(b);
            break;
        case 51:
            m51(b);
            break;
        case 52:
            m52(b);
            break;
        case 53:
            m53(b);
            break;
        case 54:
            m54(b);
            break;
        case 55:
            m55(b);
            break;
        case 56:
            m56(b);
            break;
        case 57:
            m57(b);
            break;
        case 58:
            m58(b);
            break;
        case 59:
            m59(b);
            break;
        case 60:
            m60(b);
            break;
        case 61:
            m61(b);
            break;
        case 62:
            m62(b);
            break;
        case 63:
            m63(b);
            break;
        case 64:
            m64(b);
            break;
        case 65:
            m65(b);
            break;
        case 66:
            m66(b);
            break;
        case 67:
            m67(b);
            break;
        case 68:
            m68(b);
            break;
        case 69:
            m69(b);
            break;
        case 70:
            m70(b);
            break;
        case 71:
            m71(b);
            break;
        case 72:
            m72(b);
            break;
        case 73:
            m73(b);
            break;
        case 74:
            m74(b);
            break;
        case 75:
            m75(b);
            break;
        case 76:
            m76(b);
            break;
        case 77:
            m77(b);
            break;
        case 78:
            m78(b);
            break;
        default:
            m79(b);
            break;
        }
    }

    private static void m0(ByteBuf b) {
    }

    private static void m1(ByteBuf b) {
    }

    private static void m2(ByteBuf b) {
    }

    private static void m3(ByteBuf b) {
    }

    private static void m4(ByteBuf b) {
    }

    private static void m5(ByteBuf b) {
    }

    private static void m6(ByteBuf b) {
    }

    private static void m7(ByteBuf b) {
    }

    private static void m8(ByteBuf b) {
    }

    private static void m9(ByteBuf b) {
    }

    private static void m10(ByteBuf b) {
    }

    private static void m11(ByteBuf b) {
    }

    private static void m12(ByteBuf b) {
    }

    private static void m13(ByteBuf b) {
    }

    private static void m14(ByteBuf b) {
    }

    private static void m15(ByteBuf b) {
    }

    private static void m16(ByteBuf b) {
    }

    private static void m17(ByteBuf b) {
    }

    private static void m18(ByteBuf b) {
    }

    private static void m19(ByteBuf b) {
    }

    private static void m20(ByteBuf b) {
    }

    private static void m21(ByteBuf b) {
    }

    private static void m22(ByteBuf b) {
    }

    private static void m23(ByteBuf b) {
    }

    private static void m24(ByteBuf b) {
    }

    private static void m25(ByteBuf b) {
    }

    private static void m26(ByteBuf b) {
    }

    private static void m27(ByteBuf b) {
    }

    private static void m28(ByteBuf b) {
    }

    private static void m29(ByteBuf b) {
    }

    private static void m30(ByteBuf b) {
    }

    private static void m31(ByteBuf b) {
    }

    private static void m32(ByteBuf b) {
    }

    private static void m33(ByteBuf b) {
    }

    private static void m34(ByteBuf b) {
    }

    private static void m35(ByteBuf b) {
    }

    private static void m36(ByteBuf b) {
    }

    private static void m37(ByteBuf b) {
    }

    private static void m38(ByteBuf b) {
    }

    private static void m39(ByteBuf b) {
    }

    private static void m40(ByteBuf b) {
    }

    private static void m41(ByteBuf b) {
    }

    private static void m42(ByteBuf b) {
    }

    private static void m43(ByteBuf b) {
    }

    private static void m44(ByteBuf b) {
    }

    private static void m45(ByteBuf b) {
    }

    private static void m46(ByteBuf b) {
    }

    private static void m47(ByteBuf b) {
    }

    private static void m48(ByteBuf b) {
    }

    private static void m49(ByteBuf b) {
    }

    private static void m50(ByteBuf b) {
    }

    private static void m51(ByteBuf b) {
    }

    private static void m52(ByteBuf b) {
    }

    private static void m53(ByteBuf b) {
    }

    private static void m54(ByteBuf b) {
    }

    private static void m55(ByteBuf b) {
    }

    private static void m56(ByteBuf b) {
    }

    private static void m57(ByteBuf b) {
    }

    private static void m58(ByteBuf b) {
    }

    private static void m59(ByteBuf b) {
    }

    private static void m60(ByteBuf b) {
    }

    private static void m61(ByteBuf b) {
    }

    private static void m62(ByteBuf b) {
    }

    private static void m63(ByteBuf b) {
    }

    private static void m64(ByteBuf b) {
    }

    private static void m65(ByteBuf b) {
    }

    private static void m66(ByteBuf b) {
    }

    private static void m67(ByteBuf b) {
    }

    private static void m68(ByteBuf b) {
    }

    private static void m69(ByteBuf b) {
    }

    private static void m70(ByteBuf b) {
    }

    private static void m71(ByteBuf b) {
    }

    private static void m72(ByteBuf b) {
    }

    private static void m73(ByteBuf b) {
    }

    private static void m74(ByteBuf b) {
    }

    private static void m75(ByteBuf b) {
    }

    private static void m76(ByteBuf b) {
    }

    private static void m77(ByteBuf b) {
    }

    private static void m78(ByteBuf b) {
    }

    private static void m79(ByteBuf b) {
    }
}
