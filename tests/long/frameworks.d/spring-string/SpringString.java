package com.bench;

import java.util.Map;
import org.springframework.core.ResolvableType;
import org.springframework.core.codec.StringDecoder;
import org.springframework.core.io.buffer.DataBuffer;
import reactor.core.publisher.Flux;

/**
 * spring-framework#24339: several lines in one buffer, one of the first over the limit: the slices of
 * the lines after it are not released.
 */
public final class SpringString extends SpringBug {
    private final StringDecoder decoder = StringDecoder.textPlainOnly();

    public static void main(String[] args) throws Exception {
        new SpringString().run();
    }

    @Override
    protected void start() {
        decoder.setMaxInMemorySize(8);
    }

    @Override
    protected void use(DataBuffer input) {
        decoder.decode(Flux.just(input), ResolvableType.forClass(String.class), null, Map.of())
                .collectList().block();
    }

    /** Each slice that is lost is a buffer of its own, and holds one count of its memory. */
    @Override
    protected int lives(Object kept) {
        return refCnt(kept);
    }

    @Override
    protected String good() {
        return "a\nbc\nd\n";
    }

    @Override
    protected String bad() {
        return "a\ntoo long a line\nbc\nd\n";
    }
}
