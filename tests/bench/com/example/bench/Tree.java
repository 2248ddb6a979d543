package com.example.bench;

import io.netty.buffer.ByteBuf;

/**
 * A path for each number below 4^10: ten methods, each one of four by a digit. Each place has
 * methods of its own: the same one twice in a path would be a loop, and loops are no nodes.
 */
final class Tree {
    private Tree() {
    }

    static int walk(ByteBuf b, int number) {
        int a = number >>> 18 & 3;
        int second = number >>> 16 & 3;
        int c = number >>> 14 & 3;
        int d = number >>> 12 & 3;
        int e = number >>> 10 & 3;
        int f = number >>> 8 & 3;
        int g = number >>> 6 & 3;
        int h = number >>> 4 & 3;
        int i = number >>> 2 & 3;
        int j = number & 3;
        int sum = 0;
        sum += a < 2 ? a == 0 ? a0(b) : a1(b) : a == 2 ? a2(b) : a3(b);
        sum += second < 2 ? second == 0 ? b0(b) : b1(b) : second == 2 ? b2(b) : b3(b);
        sum += c < 2 ? c == 0 ? c0(b) : c1(b) : c == 2 ? c2(b) : c3(b);
        sum += d < 2 ? d == 0 ? d0(b) : d1(b) : d == 2 ? d2(b) : d3(b);
        sum += e < 2 ? e == 0 ? e0(b) : e1(b) : e == 2 ? e2(b) : e3(b);
        sum += f < 2 ? f == 0 ? f0(b) : f1(b) : f == 2 ? f2(b) : f3(b);
        sum += g < 2 ? g == 0 ? g0(b) : g1(b) : g == 2 ? g2(b) : g3(b);
        sum += h < 2 ? h == 0 ? h0(b) : h1(b) : h == 2 ? h2(b) : h3(b);
        sum += i < 2 ? i == 0 ? i0(b) : i1(b) : i == 2 ? i2(b) : i3(b);
        sum += j < 2 ? j == 0 ? j0(b) : j1(b) : j == 2 ? j2(b) : j3(b);
        return sum;
    }

    private static int a0(ByteBuf b) {
        return b.writerIndex() + 0;
    }

    private static int a1(ByteBuf b) {
        return b.writerIndex() + 1;
    }

    private static int a2(ByteBuf b) {
        return b.writerIndex() + 2;
    }

    private static int a3(ByteBuf b) {
        return b.writerIndex() + 3;
    }

    private static int b0(ByteBuf b) {
        return b.writerIndex() + 4;
    }

    private static int b1(ByteBuf b) {
        return b.writerIndex() + 5;
    }

    private static int b2(ByteBuf b) {
        return b.writerIndex() + 6;
    }

    private static int b3(ByteBuf b) {
        return b.writerIndex() + 7;
    }

    private static int c0(ByteBuf b) {
        return b.writerIndex() + 8;
    }

    private static int c1(ByteBuf b) {
        return b.writerIndex() + 9;
    }

    private static int c2(ByteBuf b) {
        return b.writerIndex() + 10;
    }

    private static int c3(ByteBuf b) {
        return b.writerIndex() + 11;
    }

    private static int d0(ByteBuf b) {
        return b.writerIndex() + 12;
    }

    private static int d1(ByteBuf b) {
        return b.writerIndex() + 13;
    }

    private static int d2(ByteBuf b) {
        return b.writerIndex() + 14;
    }

    private static int d3(ByteBuf b) {
        return b.writerIndex() + 15;
    }

    private static int e0(ByteBuf b) {
        return b.writerIndex() + 16;
    }

    private static int e1(ByteBuf b) {
        return b.writerIndex() + 17;
    }

    private static int e2(ByteBuf b) {
        return b.writerIndex() + 18;
    }

    private static int e3(ByteBuf b) {
        return b.writerIndex() + 19;
    }

    private static int f0(ByteBuf b) {
        return b.writerIndex() + 20;
    }

    private static int f1(ByteBuf b) {
        return b.writerIndex() + 21;
    }

    private static int f2(ByteBuf b) {
        return b.writerIndex() + 22;
    }

    private static int f3(ByteBuf b) {
        return b.writerIndex() + 23;
    }

    private static int g0(ByteBuf b) {
        return b.writerIndex() + 24;
    }

    private static int g1(ByteBuf b) {
        return b.writerIndex() + 25;
    }

    private static int g2(ByteBuf b) {
        return b.writerIndex() + 26;
    }

    private static int g3(ByteBuf b) {
        return b.writerIndex() + 27;
    }

    private static int h0(ByteBuf b) {
        return b.writerIndex() + 28;
    }

    private static int h1(ByteBuf b) {
        return b.writerIndex() + 29;
    }

    private static int h2(ByteBuf b) {
        return b.writerIndex() + 30;
    }

    private static int h3(ByteBuf b) {
        return b.writerIndex() + 31;
    }

    private static int i0(ByteBuf b) {
        return b.writerIndex() + 32;
    }

    private static int i1(ByteBuf b) {
        return b.writerIndex() + 33;
    }

    private static int i2(ByteBuf b) {
        return b.writerIndex() + 34;
    }

    private static int i3(ByteBuf b) {
        return b.writerIndex() + 35;
    }

    private static int j0(ByteBuf b) {
        return b.writerIndex() + 36;
    }

    private static int j1(ByteBuf b) {
        return b.writerIndex() + 37;
    }

    private static int j2(ByteBuf b) {
        return b.writerIndex() + 38;
    }

    private static int j3(ByteBuf b) {
        return b.writerIndex() + 39;
    }
}
