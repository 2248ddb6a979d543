// SPDX-License-Identifier: Apache-2.0
package com.example.bytebuf.tracker;

/** Netty's buffers, which bbflow follows by itself. By reflection: the API needs no Netty. */
public final class ByteBufObjectHandler implements ObjectTrackerHandler {
    private static final String TYPE = "io.netty.buffer.ByteBuf";

    @Override
    public boolean shouldTrack(Object obj) {
        return byteBuf(obj) != null;
    }

    private static Class<?> byteBuf(Object obj) {
        for (Class<?> type = obj == null ? null : obj.getClass(); type != null; type = type.getSuperclass())
            if (type.getName().equals(TYPE))
                return type;
        return null;
    }

    /** refCnt(); 0 for anything else. */
    @Override
    public int getMetric(Object obj) {
        Class<?> type = byteBuf(obj);
        try {
            return type == null ? 0 : (Integer) type.getMethod("refCnt").invoke(obj);
        } catch (ReflectiveOperationException e) {
            return 0;
        }
    }

    @Override
    public String getObjectType() {
        return TYPE;
    }

    @Override
    public String getReleaseMethod() {
        return "release";
    }
}
