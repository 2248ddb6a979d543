package com.bench;

import com.shop.AuditService;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.http.javadsl.Http;
import org.apache.pekko.http.javadsl.ServerBinding;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.japi.function.Function;

/** A Pekko HTTP server and client: their bytes are ByteStrings on the heap, read by NIO. */
public final class PekkoHttp extends Program {
    private ActorSystem system;
    private ServerBinding server;

    public static void main(String[] args) throws Exception {
        new PekkoHttp().run();
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    @Override
    protected void start() throws Exception {
        system = ActorSystem.create("shop");
        AuditService audit = new AuditService();
        Function<HttpRequest, CompletionStage<HttpResponse>> handler = request ->
                request.entity().toStrict(30_000, system).thenApply(order -> {
                    audit.record(order.getData());
                    return HttpResponse.create().withEntity(HttpEntities.create("accepted"));
                });
        server = get(Http.get(system).newServerAt("127.0.0.1", 0).bind(handler));
    }

    @Override
    protected void request(int number) throws Exception {
        HttpRequest order = HttpRequest.POST("http://127.0.0.1:" + server.localAddress().getPort() + "/orders")
                .withEntity("order ".repeat(80));
        HttpResponse answer = get(Http.get(system).singleRequest(order));
        if (!get(answer.entity().toStrict(30_000, system)).getData().utf8String().equals("accepted"))
            throw new IllegalStateException("answer");
    }

    @Override
    protected int refCnt(Object kept) {
        throw new IllegalStateException("a ByteString has no count");
    }

    @Override
    protected void stop() {
        system.terminate();
    }
}
