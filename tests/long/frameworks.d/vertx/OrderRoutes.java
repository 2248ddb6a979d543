package com.shop;

import io.vertx.core.buffer.Buffer;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.handler.BodyHandler;

public final class OrderRoutes {
    private final ReceiptService receipts;
    private final AuditService audit;

    public OrderRoutes(ReceiptService receipts, AuditService audit) {
        this.receipts = receipts;
        this.audit = audit;
    }

    public void addTo(Router router) {
        router.post("/orders").handler(BodyHandler.create(false)).handler(this::create);
    }

    private void create(RoutingContext context) {
        Buffer receipt = receipts.render(context.body().buffer());
        context.response().end(receipt).onComplete(sent -> audit.record(receipt));
    }
}
