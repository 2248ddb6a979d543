package com.shop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.client.ChunkReceivedCallback;
import org.apache.spark.network.client.TransportClient;

public final class BlockFetcher {
    private final AuditService audit;

    public BlockFetcher(AuditService audit) {
        this.audit = audit;
    }

    public void fetch(TransportClient client, int chunk) throws Exception {
        CompletableFuture<Void> done = new CompletableFuture<>();
        client.fetchChunk(1, chunk, new ChunkReceivedCallback() {
            @Override
            public void onSuccess(int index, ManagedBuffer block) {
                audit.record(block);
                done.complete(null);
            }

            @Override
            public void onFailure(int index, Throwable why) {
                done.completeExceptionally(why);
            }
        });
        done.get(30, TimeUnit.SECONDS);
    }
}
