// SPDX-License-Identifier: Apache-2.0
package com.shop;

import java.nio.charset.StandardCharsets;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.web.reactive.function.BodyExtractors;
import org.springframework.web.reactive.function.server.ServerRequest;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.core.publisher.Mono;

/** Checks the signature of the bytes as they came, so it takes them as a DataBuffer. */
final class OrderHandler {
    Mono<ServerResponse> create(ServerRequest request) {
        String signature = request.headers().firstHeader("X-Signature");
        return DataBufferUtils.join(request.body(BodyExtractors.toDataBuffers()))
                .flatMap(body -> accept(body, signature));
    }

    private Mono<ServerResponse> accept(DataBuffer body, String signature) {
        if (!"ok".equals(signature)) {
            return ServerResponse.badRequest().bodyValue("wrong signature");
        }
        String order = body.toString(StandardCharsets.UTF_8);
        DataBufferUtils.release(body);
        return ServerResponse.ok().bodyValue("accepted " + order);
    }
}
