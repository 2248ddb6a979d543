// SPDX-License-Identifier: Apache-2.0
package com.shop;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.springframework.http.server.reactive.ReactorHttpHandlerAdapter;
import org.springframework.web.reactive.function.server.RequestPredicates;
import org.springframework.web.reactive.function.server.RouterFunctions;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/** WebFlux on Reactor Netty. Its client sends 1,000 orders; every tenth is signed wrongly. Shop [ROUNDS]: that often. */
public final class Shop {
    private Shop() {
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        OrderHandler handler = new OrderHandler();
        DisposableServer server = HttpServer.create().host("127.0.0.1").port(0)
                .handle(new ReactorHttpHandlerAdapter(RouterFunctions.toHttpHandler(
                        RouterFunctions.route(RequestPredicates.POST("/orders"), handler::create))))
                .bindNow();
        for (int round = 0; round < rounds; round++) {
            sendOrders(server.port());
        }
        System.out.println("1000 orders sent; the server runs on");
        server.onDispose().block();
    }

    /** Each request is one write, so that it arrives as one buffer. */
    private static void sendOrders(int port) throws IOException {
        for (int n = 1; n <= 1000; n++) {
            String order = "order=" + n;
            String head = "POST /orders HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nX-Signature: "
                    + (n % 10 == 0 ? "?" : "ok") + "\r\nContent-Length: " + order.length() + "\r\n\r\n";
            try (Socket socket = new Socket("127.0.0.1", port)) {
                socket.getOutputStream().write((head + order).getBytes(StandardCharsets.US_ASCII));
                socket.getInputStream().readAllBytes();
            }
        }
    }
}
