package com.shop;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

public final class OrderHandler {
    private final AuditService audit;

    public OrderHandler(AuditService audit) {
        this.audit = audit;
    }

    public Mono<ServerResponse> create(ServerRequest request) {
        return request.bodyToFlux(DataBuffer.class)
                .doOnNext(audit::record)
                .then(ServerResponse.ok().bodyValue("accepted"));
    }
}
