// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.CorruptedFrameException;
import java.util.List;
import java.util.zip.CRC32;

/** Frames of a length, a payload and the payload's checksum. */
final class FrameDecoder extends ByteToMessageDecoder {
    private static final int LENGTH = 4;
    private static final int CHECKSUM = 4;

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (in.readableBytes() < LENGTH) {
            return;
        }
        int length = in.getInt(in.readerIndex());
        if (in.readableBytes() < LENGTH + length + CHECKSUM) {
            return;
        }
        ByteBuf payload = in.skipBytes(LENGTH).readRetainedSlice(length);
        if (in.readInt() != checksum(payload)) {
            throw new CorruptedFrameException("checksum");
        }
        out.add(payload);
    }

    private static int checksum(ByteBuf payload) {
        CRC32 sum = new CRC32();
        sum.update(payload.nioBuffer());
        return (int) sum.getValue();
    }
}
