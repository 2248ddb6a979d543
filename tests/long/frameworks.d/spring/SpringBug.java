package com.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import java.nio.charset.StandardCharsets;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.NettyDataBufferFactory;

/** A bug of an old version of Spring: an input that triggers it. Lost is what keeps a count after it. */
abstract class SpringBug extends Program {
    private final NettyDataBufferFactory factory = new NettyDataBufferFactory(PooledByteBufAllocator.DEFAULT);

    /** Gives the buffer to Spring, which must release it. */
    protected abstract void use(DataBuffer input) throws Exception;

    protected abstract String good();

    protected abstract String bad();

    @Override
    protected void start() {
    }

    @Override
    protected void request(int number) {
        ByteBuf memory = PooledByteBufAllocator.DEFAULT.directBuffer(256);
        memory.writeCharSequence(Tally.isPlanting() && number % 3 == 0 ? bad() : good(),
                StandardCharsets.US_ASCII);
        try {
            use(factory.wrap(memory));
        } catch (Exception refused) {
            // what the bad input is for
        }
        if (memory.refCnt() > 0)
            Tally.keep(memory);
    }

    @Override
    protected int refCnt(Object kept) {
        return ((ByteBuf) kept).refCnt();
    }

    @Override
    protected void stop() {
    }
}
