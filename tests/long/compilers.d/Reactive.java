package com.rx;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

public final class Reactive {
    static int size(ByteBuf b) { return b.readableBytes(); }

    static Mono<Integer> mapped(ByteBuf buf) {
        return Mono.just(buf).map(b -> b.readableBytes() + 1);
    }

    static Mono<Integer> flat(ByteBuf buf) {
        return Mono.just(buf)
                .flatMap(b -> Mono.just(b)
                        .map(Reactive::size));
    }

    static Flux<Integer> many() {
        return Flux.range(0, 2)
                .map(i -> PooledByteBufAllocator.DEFAULT.directBuffer(64))
                .doOnNext(b -> b.writeInt(1))
                .filter(b -> b.isReadable())
                .map(b -> b.readableBytes());
    }

    static Mono<Void> anonymous(ByteBuf buf) {
        return Mono.create(sink -> new Object() {
            void use(ByteBuf b) { sink.success(); }
        }.use(buf));
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 20; i++) {
            mapped(PooledByteBufAllocator.DEFAULT.directBuffer(64)).block();
            flat(PooledByteBufAllocator.DEFAULT.directBuffer(64)).block();
            many().blockLast();
            anonymous(PooledByteBufAllocator.DEFAULT.directBuffer(64)).block();
        }
        for (int i = 0; i < 6; i++) { System.gc(); Thread.sleep(80); }
        System.out.println("READY");
    }
}
