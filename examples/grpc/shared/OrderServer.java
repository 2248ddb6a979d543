// SPDX-License-Identifier: Apache-2.0
package com.shop;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A gRPC service with a marshaller of its own. Its client sends 1,000 orders; every tenth is a draft. OrderServer [ROUNDS]: that often. */
public final class OrderServer {
    private OrderServer() {
    }

    public static void main(String[] args) throws Exception {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 1;
        MethodDescriptor<byte[], byte[]> create = method(new OrderMarshaller());
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0))
                .addService(ServerServiceDefinition.builder("shop.Orders").addMethod(create,
                        ServerCalls.<byte[], byte[]>asyncUnaryCall((order, answer) -> {
                            answer.onNext(order);
                            answer.onCompleted();
                        })).build()).build().start();
        ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.getPort())
                .usePlaintext().build();
        MethodDescriptor<byte[], byte[]> call = method(new BytesMarshaller());
        for (int n = 1; n <= 1000 * rounds; n++) {
            String order = (n % 10 == 0 ? "draft=" : "order=") + n + ";" + "item,".repeat(100);
            ClientCalls.blockingUnaryCall(channel, call, CallOptions.DEFAULT,
                    order.getBytes(StandardCharsets.US_ASCII));
        }
        System.out.println("1000 orders sent; the server runs on");
        server.awaitTermination();
    }

    private static MethodDescriptor<byte[], byte[]> method(MethodDescriptor.Marshaller<byte[]> request) {
        return MethodDescriptor.<byte[], byte[]>newBuilder().setType(MethodDescriptor.MethodType.UNARY)
                .setFullMethodName("shop.Orders/create").setRequestMarshaller(request)
                .setResponseMarshaller(new BytesMarshaller()).build();
    }
}
