package com.shop;

import com.linecorp.armeria.common.AggregationOptions;
import com.linecorp.armeria.common.HttpRequest;
import com.linecorp.armeria.common.HttpResponse;
import com.linecorp.armeria.server.HttpService;
import com.linecorp.armeria.server.ServiceRequestContext;

public final class OrderService implements HttpService {
    private final AuditService audit;

    public OrderService(AuditService audit) {
        this.audit = audit;
    }

    @Override
    public HttpResponse serve(ServiceRequestContext context, HttpRequest request) {
        return HttpResponse.of(request.aggregate(AggregationOptions.usePooledObjects(context.alloc()))
                .thenApply(order -> {
                    audit.record(order.content());
                    return HttpResponse.of("accepted");
                }));
    }
}
