package com.shop;

import io.netty.handler.codec.http.HttpHeaders;
import java.util.concurrent.TimeUnit;
import org.asynchttpclient.AsyncHandler;
import org.asynchttpclient.AsyncHttpClient;
import org.asynchttpclient.HttpResponseBodyPart;
import org.asynchttpclient.HttpResponseStatus;

public final class PriceFeed {
    private final AsyncHttpClient client;
    private final String url;
    private final AuditService audit;

    public PriceFeed(AsyncHttpClient client, String url, AuditService audit) {
        this.client = client;
        this.url = url;
        this.audit = audit;
    }

    public int read() throws Exception {
        return client.prepareGet(url).execute(new Reader()).get(30, TimeUnit.SECONDS);
    }

    private final class Reader implements AsyncHandler<Integer> {
        private int bytes;

        @Override
        public State onStatusReceived(HttpResponseStatus status) {
            return State.CONTINUE;
        }

        @Override
        public State onHeadersReceived(HttpHeaders headers) {
            return State.CONTINUE;
        }

        @Override
        public State onBodyPartReceived(HttpResponseBodyPart part) {
            bytes += part.length();
            if (part.length() > 0)
                audit.record(part);
            return State.CONTINUE;
        }

        @Override
        public void onThrowable(Throwable why) {
            bytes = -1;
        }

        @Override
        public Integer onCompleted() {
            return bytes;
        }
    }
}
