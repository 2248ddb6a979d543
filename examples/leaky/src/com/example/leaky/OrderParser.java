package com.example.leaky;

import io.netty.buffer.ByteBuf;

import java.nio.charset.StandardCharsets;

/** Reads "order=N;amount=N" without consuming the frame. */
final class OrderParser {
    private OrderParser() {
    }

    static int amount(ByteBuf frame) {
        String text = frame.toString(StandardCharsets.UTF_8);
        int at = text.indexOf(";amount=");
        if (at < 0) {
            throw new IllegalArgumentException("no amount");
        }
        return Integer.parseInt(text.substring(at + ";amount=".length()));
    }
}
