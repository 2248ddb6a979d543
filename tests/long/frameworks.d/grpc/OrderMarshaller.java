package com.shop;

import io.grpc.Detachable;
import io.grpc.MethodDescriptor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Reads the header of an order, and hands its body on without a copy. */
public final class OrderMarshaller implements MethodDescriptor.Marshaller<byte[]> {
    public static final int HEADER = 6;
    private final AuditService audit;

    public OrderMarshaller(AuditService audit) {
        this.audit = audit;
    }

    @Override
    public InputStream stream(byte[] order) {
        return new ByteArrayInputStream(order);
    }

    @Override
    public byte[] parse(InputStream order) {
        try {
            byte[] header = order.readNBytes(HEADER);
            if (order instanceof Detachable)
                audit.record((Detachable) order);
            return header;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
