package com.bench;

import com.linecorp.armeria.client.WebClient;
import com.linecorp.armeria.common.AggregatedHttpResponse;
import com.linecorp.armeria.common.ByteBufAccessMode;
import com.linecorp.armeria.common.HttpData;
import com.linecorp.armeria.common.HttpStatus;
import com.linecorp.armeria.server.Server;
import com.shop.AuditService;
import com.shop.OrderService;

/** An Armeria service that takes pooled objects, and Armeria's WebClient. */
public final class Armeria extends Program {
    private static final String ORDER = "order ".repeat(80);
    private Server server;
    private WebClient client;

    public static void main(String[] args) throws Exception {
        new Armeria().run();
    }

    @Override
    protected void start() {
        server = Server.builder().http(0).service("/orders", new OrderService(new AuditService())).build();
        server.start().join();
        client = WebClient.of("http://127.0.0.1:" + server.activeLocalPort());
    }

    @Override
    protected void request(int number) {
        AggregatedHttpResponse answer = client.post("/orders", ORDER).aggregate().join();
        if (answer.status() != HttpStatus.OK)
            throw new IllegalStateException("answer: " + answer);
    }

    @Override
    protected int refCnt(Object kept) {
        return ((HttpData) kept).byteBuf(ByteBufAccessMode.DUPLICATE).refCnt();
    }

    @Override
    protected void stop() {
        server.stop().join();
    }
}
