package com.shop;

import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.buffer.NioManagedBuffer;
import org.apache.spark.network.client.RpcResponseCallback;
import org.apache.spark.network.client.TransportClient;
import org.apache.spark.network.server.RpcHandler;
import org.apache.spark.network.server.StreamManager;

/** Serves one block, in as many chunks as are asked for. */
public final class BlockStore extends RpcHandler {
    private final StreamManager blocks = new StreamManager() {
        @Override
        public ManagedBuffer getChunk(long stream, int chunk) {
            return new NioManagedBuffer(ByteBuffer.allocate(500 + chunk % 7));
        }
    };

    @Override
    public void receive(TransportClient client, ByteBuffer message, RpcResponseCallback callback) {
        callback.onSuccess(message);
    }

    @Override
    public StreamManager getStreamManager() {
        return blocks;
    }
}
