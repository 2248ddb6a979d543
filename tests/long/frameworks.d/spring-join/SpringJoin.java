package com.bench;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import reactor.core.publisher.Flux;

/** DataBufferUtils.join, whose source fails after the first buffer: that buffer is not released. */
public final class SpringJoin extends SpringBug {
    public static void main(String[] args) throws Exception {
        new SpringJoin().run();
    }

    @Override
    protected void use(DataBuffer input) {
        boolean fails = input.readableByteCount() == bad().length();
        Flux<DataBuffer> source = fails
                ? Flux.concat(Flux.just(input), Flux.error(new IllegalStateException("connection reset")))
                : Flux.just(input);
        DataBufferUtils.release(DataBufferUtils.join(source).block());
    }

    @Override
    protected String good() {
        return "whole";
    }

    @Override
    protected String bad() {
        return "broken";
    }
}
