// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.grpc.Detachable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Reads the kind of an order where Netty received it, and copies the rest only if it is needed. */
final class OrderMarshaller extends BytesMarshaller {
    private static final int KIND = 6;

    @Override
    public byte[] parse(InputStream message) {
        try {
            return order(((Detachable) message).detach()); // now this class must close it
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] order(InputStream message) throws IOException {
        byte[] kind = message.readNBytes(KIND);
        if (new String(kind, StandardCharsets.US_ASCII).equals("draft=")) {
            message.close();
            return kind;
        }
        byte[] order = message.readAllBytes();
        message.close();
        return order;
    }
}
