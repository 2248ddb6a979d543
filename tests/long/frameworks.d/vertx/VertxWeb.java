package com.bench;

import com.shop.AuditService;
import com.shop.OrderRoutes;
import com.shop.ReceiptService;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.ext.web.Router;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A router of Vert.x web with its BodyHandler, and Vert.x's HTTP client. */
public final class VertxWeb extends Program {
    private static final Buffer ORDER = Buffer.buffer("order ".repeat(80));
    private final Vertx vertx = Vertx.vertx();
    private final Context context = vertx.getOrCreateContext();
    private HttpServer server;
    private HttpClient client;

    public static void main(String[] args) throws Exception {
        new VertxWeb().run();
    }

    @Override
    protected void start() throws Exception {
        Router router = Router.router(vertx);
        new OrderRoutes(new ReceiptService(), new AuditService()).addTo(router);
        server = vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1")
                .toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
        client = vertx.createHttpClient();
    }

    @Override
    protected void request(int number) throws Exception {
        CompletableFuture<Buffer> answered = new CompletableFuture<>();
        context.runOnContext(unused -> exchange().onSuccess(answered::complete)
                .onFailure(answered::completeExceptionally));
        Buffer answer = answered.get(30, TimeUnit.SECONDS);
        if (answer.length() != ORDER.length() + 9)
            throw new IllegalStateException("answer: " + answer);
    }

    /** All on one event loop: otherwise a response can come before body() asks for it. */
    private Future<Buffer> exchange() {
        return client.request(HttpMethod.POST, server.actualPort(), "127.0.0.1", "/orders")
                .compose((HttpClientRequest request) -> request.send(ORDER))
                .compose(HttpClientResponse::body);
    }

    /** getByteBuf gives a duplicate that cannot be released, but it has the same count. */
    @Override
    protected int refCnt(Object kept) {
        ByteBuf buffer = ((io.vertx.core.buffer.impl.BufferImpl) kept).getByteBuf();
        return buffer == Unpooled.EMPTY_BUFFER ? 0 : buffer.refCnt();
    }

    @Override
    protected void stop() {
        vertx.close();
    }
}
