/* link: facts_dump */
// Which calls may leave a method by an exception while it has a buffer that it releases, keeps or hands over
// otherwise: the lines that end in "may". tests/facts/check compares them with what facts_dump says.
import io.netty.buffer.*;
import io.netty.channel.*;
import io.netty.util.*;
import java.util.*;

public class Throws {
    ByteBuf field;
    List<ByteBuf> out = new ArrayList<>();

    static void parse(ByteBuf b) { b.readInt(); }
    static int check(int n) { if (n < 0) throw new IllegalStateException("n"); return n; }
    static void quiet(ByteBuf b) { b.release(); }
    static ByteBuf make(int n) { return Unpooled.make(); }
    static ByteBuf same(ByteBuf b) { return b; }
    void emit(int n) { }

    static void releasesAfter(ByteBuf b) {
        parse(b); // may
        check(1); // may
        b.release();
        check(2);
    }
    static void readsOnly(ByteBuf b) {
        parse(b);
        check(1);
    }
    static void inFinally(ByteBuf b) {
        try {
            parse(b);
            check(1);
        } finally {
            b.release();
        }
    }
    static void beforeTry(ByteBuf b) {
        check(0); // may
        try {
            parse(b);
        } finally {
            b.release();
        }
    }
    static void inCatch(ByteBuf b) {
        try {
            parse(b);
        } catch (RuntimeException e) {
            b.release();
            throw e;
        }
        check(3); // may
        b.release();
    }
    static void catchesAndGoesOn(ByteBuf b) {
        try {
            parse(b);
        } catch (RuntimeException e) {
            System.out.println(e);
        }
        b.release();
    }
    static void catchesWithoutRelease(ByteBuf b) {
        try {
            parse(b); // may
            b.release();
        } catch (RuntimeException e) {
            throw new IllegalArgumentException(e);
        }
    }
    static void catchesAndReturns(ByteBuf b) {
        try {
            parse(b); // may
            b.release();
        } catch (RuntimeException e) {
            return;
        }
    }
    static void helperInCatch(ByteBuf b) {
        try {
            parse(b);
        } catch (RuntimeException e) {
            quiet(b);
            throw e;
        }
        b.release();
    }
    static void helperReleases(ByteBuf b) {
        check(1); // may
        quiet(b);
        check(2);
    }
    static void throwsItself(ByteBuf b, int n) {
        if (n > 9)
            throw new IllegalStateException("n"); // may
        b.release();
    }
    static void releasesAndThrows(ByteBuf b, int n) {
        if (n > 9) {
            b.release();
            throw new IllegalStateException("n");
        }
        b.release();
    }
    static void onOneBranch(ByteBuf b, int n) {
        if (n > 9) {
            b.release();
            return;
        }
        check(n); // may
        b.release();
    }
    void keeps(ByteBuf b, int n) {
        check(n); // may
        field = b;
        check(n);
    }
    void own(int n) {
        ByteBuf b = Unpooled.make();
        parse(b); // may
        b.release();
    }
    void ownInTry(int n) {
        ByteBuf b = null;
        try {
            b = make(n);
            parse(b);
        } finally {
            if (b != null)
                b.release();
        }
    }
    ByteBuf returnsOwn(int n) {
        ByteBuf b = make(n);
        emit(n); // may
        return b;
    }
    void addsTo(ByteBuf b, int n) {
        out.add(b);
        check(n);
    }
    void throughResult(ByteBuf b, int n) {
        ByteBuf c = same(b); // not known: the result has it from here on
        check(n); // may
        c.release();
        check(n);
    }
    static void nested(ByteBuf b) {
        try {
            try {
                parse(b);
            } finally {
                System.out.println();
            }
        } catch (Error | RuntimeException e) {
            b.release();
            throw e;
        }
        b.release();
    }
    static void synchronizedBlock(ByteBuf b, Object lock) {
        synchronized (lock) {
            parse(b); // may
        }
        b.release();
    }
    static void twoBuffers(ByteBuf a, ByteBuf b) {
        a.release();
        parse(b); // may
        b.release();
    }
    static void retries(ByteBuf b) {
        for (int i = 0; i < 3; i++) {
            try {
                parse(b);
                b.release();
                return;
            } catch (RuntimeException e) {
                continue;
            }
        }
        b.release();
    }
    static void fires(ChannelHandlerContext c, Object m) {
        ByteBuf b = (ByteBuf) m;
        parse(b); // may
        c.fireChannelRead(b);
    }
    static void inSwitch(ByteBuf b, int n) {
        switch (n) {
        case 1:
            check(n); // may
            break;
        case 2:
            b.release();
            return;
        default:
            throw new IllegalArgumentException(); // may
        }
        b.release();
    }
}
