package com.shop;

import io.micronaut.core.io.buffer.ByteBuffer;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;

@Controller
public class OrderController {
    private final AuditService audit = new AuditService();

    @Post("/orders")
    @Consumes(MediaType.APPLICATION_OCTET_STREAM)
    @Produces(MediaType.TEXT_PLAIN)
    public String create(@Body ByteBuffer<?> order) {
        audit.record(order);
        return "accepted";
    }
}
