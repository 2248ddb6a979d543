package com.shop;

import org.springframework.core.io.buffer.DataBuffer;

/** The user's class: it keeps one in a hundred and forgets it. */
final class AuditService {
    private DataBuffer last;

    void record(DataBuffer body) {
        last = body;
    }

    int size() {
        return last == null ? 0 : last.readableByteCount();
    }
}
