package com.bench;

import java.util.Map;
import org.reactivestreams.Subscription;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.codec.multipart.PartEvent;
import org.springframework.http.codec.multipart.PartEventHttpMessageReader;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;

/**
 * spring-framework#37115: the subscriber cancels after the first part; the tokens of the next parts,
 * which wait in a queue, are dropped with their buffers.
 */
public final class SpringParts extends SpringBug {
    private static final String PART = "--b\r\nContent-Disposition: form-data; name=\"n\"\r\n\r\nvalue\r\n";
    private final PartEventHttpMessageReader reader = new PartEventHttpMessageReader();

    public static void main(String[] args) throws Exception {
        new SpringParts().run();
    }

    @Override
    protected void use(DataBuffer input) {
        HttpHeaders headers = new HttpHeaders();
        headers.setContentType(MediaType.parseMediaType("multipart/form-data; boundary=b"));
        BaseSubscriber<PartEvent> client = new FirstPart();
        reader.read(ResolvableType.forClass(PartEvent.class), new ReactiveHttpInputMessage() {
            @Override
            public Flux<DataBuffer> getBody() {
                return Flux.just(input);
            }

            @Override
            public HttpHeaders getHeaders() {
                return headers;
            }
        }, Map.of()).subscribe(client);
        client.cancel();
    }

    /** Takes one part, then the client goes away. */
    private static final class FirstPart extends BaseSubscriber<PartEvent> {
        @Override
        protected void hookOnSubscribe(Subscription subscription) {
            subscription.request(1);
        }

        @Override
        protected void hookOnNext(PartEvent part) {
            DataBufferUtils.release(part.content());
        }
    }

    @Override
    protected String good() {
        return PART + "--b--\r\n";
    }

    @Override
    protected String bad() {
        return PART.repeat(4) + "--b--\r\n";
    }
}
