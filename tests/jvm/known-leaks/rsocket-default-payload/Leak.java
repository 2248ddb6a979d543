import io.netty.buffer.ByteBuf;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import io.rsocket.util.DefaultPayload;

/** rsocket-java #882 / PR #886: DefaultPayload.create(ByteBuf, ByteBuf) copies what it was given and releases neither,
 *  though the payload owns them, as it does with ByteBufPayload. */
public class Leak {
    public static void main(String[] a) throws Throwable {
        Harness.main("rsocket-default-payload", 40, new Harness.Body() { public void run(int i) {
            for (int k = 0; k < 3; k++) send(ByteBufPayload.create(Harness.direct("data"), Harness.direct("meta")));
            send(DefaultPayload.create(Harness.direct("data"), Harness.direct("meta")));
        }});
    }
    static void send(Payload payload) {
        if (!"data".equals(payload.getDataUtf8()) || !"meta".equals(payload.getMetadataUtf8()))
            throw new AssertionError();
        payload.release();
    }
}
