/* link: facts_dump */
// What the pass over parameters has to find: each method's line names it ("param 0 = the first buffer").
// tests/facts/check compiles this, runs facts_dump, and compares. "-" is a borrower.
import io.netty.buffer.*;
import io.netty.channel.*;
import io.netty.util.*;
import java.util.*;
import java.util.function.*;

public class Facts {
    static ByteBuf kept;
    ByteBuf field;
    ByteBuf[] array = new ByteBuf[1];
    Queue<Object> queue = new ArrayDeque<>();

    static int reads(ByteBuf b) { return b.readInt(); }                                     // -
    static void putsStatic(ByteBuf b) { kept = b; }                                         // keeps
    void putsField(ByteBuf b) { field = b; }                                                // keeps
    void putsArray(ByteBuf b) { array[0] = b; }                                             // keeps
    Runnable captures(ByteBuf b) { return () -> b.readInt(); }                              // keeps
    Supplier<ByteBuf> refers(ByteBuf b) { return b::retain; }                               // keeps
    static String concatenates(ByteBuf b) { return "b=" + b; }                              // -
    void queues(ByteBuf b) { queue.add(b); }                                                // keeps
    static Object wraps(ByteBuf b) { return new Outside(b); }                               // keeps
    static ByteBuf returns(ByteBuf b) { return b; }                                         // returns
    static ByteBuf returnsSlice(ByteBuf b) { return b.slice(); }                            // returns
    static ByteBuf returnsCopy(ByteBuf b) { return b.copy(); }                              // -
    static ByteBuf returnsRetained(ByteBuf b) { return b.retainedSlice(); }                 // -
    static void releases(ByteBuf b) { b.release(); }                                        // releases
    static void releasesByUtil(Object m, ByteBuf b) { ReferenceCountUtil.release(b); }      // releases
    static void retains(ByteBuf b) { b.retain(); }                                          // retains
    static void keepsRetained(ByteBuf b) { kept = b.retain(); }                             // keeps retains
    static void fires(ChannelHandlerContext c, ByteBuf b) { c.fireChannelRead(b); }         // gives
    static void writes(ChannelHandlerContext c, long l, ByteBuf b) { c.writeAndFlush(b); }  // gives
    static void component(CompositeByteBuf c, ByteBuf b) { c.addComponent(true, b); }       // - / keeps
    static void copies(ByteBuf to, ByteBuf from) { to.writeBytes(from); }                   // - / -
    // which argument: long and double take two slots, the receiver one
    static void longs(long a, ByteBuf b, double c, ByteBuf d, int e) { if (a > c) d.release(); b.readInt(); } // - / releases
    void instance(long a, ByteBuf b) { long x = a + 1; field = b; a = x; }                  // keeps
    static void moved(ByteBuf b) { ByteBuf c = b; ByteBuf d = c; d.release(); }             // releases
    static void replaced(ByteBuf b) { b = Unpooled.make(); b.release(); }                   // -
    static void cast(Object o, ByteBuf unused) { ((ByteBuf) (Object) unused).release(); }   // releases
    // branches and loops
    static void ternary(ByteBuf a, ByteBuf b, boolean c) { (c ? a : b).release(); }         // releases / releases
    static ByteBuf either(ByteBuf a, ByteBuf b, int c) { return c > 0 ? a : c < -9 ? b.slice() : null; } // returns / returns
    static int switches(ByteBuf b, int i) { switch (i) { case 1: return b.readInt(); case 2: b.release(); return 0; default: return 1; } } // releases
    static int lookup(ByteBuf b, int i) { switch (i) { case 1: break; case 99999: kept = b; break; } return 0; } // keeps
    static void loops(ByteBuf b) { while (b.readInt() > 0) { if (b.readInt() == 7) break; } b.release(); } // releases
    static void inLoop(ByteBuf b) { for (int i = 0; i < 9; i++) { if (i == 5) kept = b; } } // keeps
    static void later(ByteBuf b) { do { if (b.readInt() == 3) { b.release(); return; } } while (true); } // releases
    // exceptions
    static void tries(ByteBuf b) { try { b.readInt(); } finally { b.release(); } }          // releases
    static void catches(ByteBuf b) { try { b.readInt(); } catch (RuntimeException e) { b.release(); } } // releases
    static void setInTry(ByteBuf b) { ByteBuf c = null; try { c = b; c.readInt(); } catch (RuntimeException e) { c.release(); } } // releases
    static void nested(ByteBuf b) { try { try { b.readInt(); } finally { b.readInt(); } } catch (Error e) { throw e; } } // -
    static void thrown(ByteBuf b) { if (b.readInt() < 0) throw new IllegalStateException(); kept = b; } // keeps
    // calls: what is called decides
    static void lends(ByteBuf b) { reads(b); }                                              // -
    static void lendsDeep(ByteBuf b) { lends(b); reads(b); }                                // -
    static void passes(ByteBuf b) { putsStatic(b); }                                        // keeps
    static void passesDeep(ByteBuf b) { lends(b); passes(b); }                              // keeps
    static void drops(ByteBuf b) { returns(b); }                                            // -
    static void followsResult(ByteBuf b) { returns(b).release(); }                          // releases
    static ByteBuf returnsDeep(ByteBuf b) { return returns(returnsSlice(b)); }              // returns
    static int recursive(ByteBuf b, int n) { return n == 0 ? 0 : recursive(b, n - 1); }     // -
    static void mutual(ByteBuf b, int n) { if (n > 0) mutualToo(b, n); }                    // releases
    static void mutualToo(ByteBuf b, int n) { if (n == 3) b.release(); mutual(b, n - 1); }  // releases
    static void varargs(ByteBuf... all) { }                                                 //
    static void callsVarargs(ByteBuf b) { varargs(b); }                                     // keeps
    static void virtual(Base base, ByteBuf b) { base.use(b); }                              // keeps
    static void virtualBorrow(Base base, ByteBuf b) { base.look(b); }                       // -
    void inherits(Derived d, ByteBuf b) { d.nonVirtual(b); }                                // releases
    static void outsideName(Outside o, ByteBuf b) { o.offer(b); }                           // keeps
    static void outsideOther(Outside o, ByteBuf b) { o.peekAt(b); }                         // -
    // holders
    static int content(ByteBufHolder h) { return h.content().readInt(); }                   // -
    static void releasesContent(ByteBufHolder h) { h.content().release(); }                 // releases
    static void keepsContent(ByteBufHolder h) { kept = h.content(); }                       // keeps
    static void dups(ByteBuf b, long l) { ByteBuf c, d; c = d = b; kept = d; }              // keeps
    ByteBuf dupX1(ByteBuf b) { return field = b; }                                          // keeps returns
    ByteBuf dupX2(ByteBuf b, int i) { return array[i] = b; }                                // keeps returns
    static long dup2(ByteBuf b, long[] l) { long r = l[0] += b.readInt(); return r; }       // -
    static void monitors(ByteBuf b) { synchronized (b) { b.readInt(); } }                   // -
    static boolean compares(ByteBuf b) { return b == kept || b instanceof CompositeByteBuf; } // -
}
class Base {
    void use(ByteBuf b) { b.readInt(); }                                                    // -
    void look(ByteBuf b) { b.readInt(); }                                                   // -
    final void nonVirtual(ByteBuf b) { b.release(); }                                       // releases
}
class Derived extends Base {
    @Override void use(ByteBuf b) { Facts.kept = b; }                                       // keeps
    @Override void look(ByteBuf b) { super.look(b); }                                       // -
}
