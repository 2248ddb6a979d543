package com.bench;

import com.shop.AuditService;
import com.shop.OrderHandler;
import java.time.Duration;
import org.springframework.core.io.buffer.NettyDataBuffer;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunctions;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** WebFlux on Reactor Netty, and its WebClient. */
public final class WebFlux extends Program {
    private static final String ORDER = "order ".repeat(80);
    private DisposableServer server;
    private WebClient client;

    public static void main(String[] args) throws Exception {
        new WebFlux().run();
    }

    @Override
    protected void start() {
        OrderHandler handler = new OrderHandler(new AuditService());
        ReactorHttpHandlerAdapter adapter = new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                RouterFunctions.route(RequestPredicates.POST("/orders"), handler::create)));
        server = HttpServer.create().host("127.0.0.1").port(0).handle(adapter).bindNow();
        client = WebClient.create("http://127.0.0.1:" + server.port());
    }

    @Override
    protected void request(int number) {
        String answer = client.post().uri("/orders").bodyValue(ORDER).retrieve()
                .bodyToMono(String.class).block(Duration.ofSeconds(30));
        if (!"accepted".equals(answer))
            throw new IllegalStateException("answer: " + answer);
    }

    @Override
    protected int refCnt(Object kept) {
        return ((NettyDataBuffer) kept).getNativeBuffer().refCnt();
    }

    @Override
    protected void stop() {
        server.disposeNow();
    }
}
