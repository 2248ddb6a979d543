/* SPDX-License-Identifier: Apache-2.0 */
/*
 * java.lang.BBFlowContext - context=on: what the hooks see of a life beside its path: the channel, the
 * hint of touch(), an exception that is caught. All is read by field: of Netty's classes as
 * docs/netty-internals.md lists them, of the JDK's as they are in 11 to 25; a field is read only where
 * the class itself declares it with that type. trie/context.h has the rules by which it is noted.
 *
 * A sight is a step of an open life. A thread remembers its last ones (those of its carrier thread, if
 * it is virtual), so that an exception finds the buffer that its method or its channel had last.
 */
package java.lang;

import static java.lang.BBFlowHandle.*;
import static java.lang.BBFlowLayout.*;
import static java.lang.BBFlowRecords.*;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.DontInline;
import jdk.internal.vm.annotation.Hidden;

final class BBFlowContext extends ClassValue<long[]> {
    private static final Unsafe U = Unsafe.getUnsafe();

    /** Where each field of FIELDS is in objects of a class, 0: not there. Behind them: */
    private static final int PIPELINE = 0, INNER = 1, NAME = 2, CHANNEL = 3, ID = 4, REMOTE = 5, LOCAL = 6,
            EPOLL = 7, KQUEUE = 8, URING = 9, NIO = 10, NIO_REMOTE = 11, RANDOM = 12, DATA = 13, INET = 14,
            ADDR = 15, PORT = 16, HOSTNAME = 17, IP = 18, IPV4 = 19, HOLDER6 = 20, IPV6 = 21,
            LOCAL_TEXT = 22, PATH = 23, OF_CONFIG = 24, OF_UNSAFE = 25;
    private static final String[] FIELDS = {
        "netty.channel.AbstractChannelHandlerContext", "pipeline", "L",
        "netty.channel.CombinedChannelDuplexHandler$DelegatingChannelHandlerContext", "ctx", "L",
        "netty.channel.AbstractChannelHandlerContext", "name", "Ljava/lang/String;",
        "netty.channel.DefaultChannelPipeline", "channel", "L",
        "netty.channel.AbstractChannel", "id", "L",
        "netty.channel.AbstractChannel", "remoteAddress", "Ljava/net/SocketAddress;",
        "netty.channel.local.LocalChannel", "remoteAddress", "L",
        "netty.channel.epoll.AbstractEpollChannel", "remote", "Ljava/net/SocketAddress;",
        "netty.channel.kqueue.AbstractKQueueChannel", "remote", "Ljava/net/SocketAddress;",
        "netty.channel.uring.AbstractIoUringChannel", "remote", "Ljava/net/SocketAddress;",
        "netty.channel.nio.AbstractNioChannel", "ch", "L",
        "sun.nio.ch.SocketChannelImpl", "remoteAddress", "L",
        "netty.channel.DefaultChannelId", "random", "I",
        "netty.channel.DefaultChannelId", "data", "[B",
        "java.net.InetSocketAddress", "holder", "L",
        "java.net.InetSocketAddress$InetSocketAddressHolder", "addr", "L",
        "java.net.InetSocketAddress$InetSocketAddressHolder", "port", "I",
        "java.net.InetSocketAddress$InetSocketAddressHolder", "hostname", "Ljava/lang/String;",
        "java.net.InetAddress", "holder", "L",
        "java.net.InetAddress$InetAddressHolder", "address", "I",
        "java.net.Inet6Address", "holder6", "L",
        "java.net.Inet6Address$Inet6AddressHolder", "ipaddress", "[B",
        "netty.channel.local.LocalAddress", "strVal", "Ljava/lang/String;",
        "netty.channel.unix.DomainSocketAddress", "socketPath", "Ljava/lang/String;",
        "netty.channel.DefaultChannelConfig", "channel", "L",
        "netty.channel.AbstractChannel$AbstractUnsafe", "this$0", "L",
    };
    /** … 1 for the id that all embedded channels have, and the number of the class's name, 0: not asked. */
    private static final int EMBEDDED = 26, NUMBER = 27, ANSWERS = 28;

    private static final int CHAR = 0xff, INT_BYTES = 4, IPV6_BYTES = 16;

    private static final BBFlowContext answers = new BBFlowContext();

    private BBFlowContext() {
    }

    // ---- classes ----

    @Override
    @Hidden
    protected long[] computeValue(Class<?> type) {
        long[] at = new long[ANSWERS];
        try {
            for (Class<?> c = type; c != null && c != Object.class; c = c.getSuperclass()) {
                String name = c.getName();
                for (int i = 0; i < EMBEDDED; i++)
                    if (is(name, FIELDS[3 * i]))
                        at[i] = Math.max(at[i], BBFlowKind.offset(c, FIELDS[3 * i + 1], FIELDS[3 * i + 2]));
                if (is(name, "netty.channel.embedded.EmbeddedChannelId"))
                    at[EMBEDDED] = 1;
            }
        } catch (Throwable t) {
            BBFlowGuard.passStop(t); // nothing is known of it
        }
        return at;
    }

    /** Netty's may have any package in front. */
    @Hidden
    private static boolean is(String name, String wanted) {
        return wanted.startsWith("netty") ? name.endsWith(wanted) : name.equals(wanted);
    }

    @Hidden
    private static Object get(Object o, int field) {
        long at = o != null ? answers.get(o.getClass())[field] : 0;
        return at != 0 ? U.getReference(o, at) : null;
    }

    /** The number of the class's name, 0: no room. Two threads may ask at once, for the same answer. */
    @Hidden
    private static int number(Class<?> type) {
        long[] at = answers.get(type);
        if (at[NUMBER] == 0)
            at[NUMBER] = BBFlowNative.contextName(type);
        return (int) at[NUMBER];
    }

    /** Of a channel's configuration or its Unsafe; null: neither. */
    @Hidden
    static Object channelBehind(Object o) {
        Object channel = get(o, OF_CONFIG);
        return channel != null ? channel : get(o, OF_UNSAFE);
    }

    /** Of a pipeline. */
    @Hidden
    static Object channelOfPipeline(Object pipeline) {
        return get(pipeline, CHANNEL);
    }

    /** Of a context or a channel; null: neither. */
    @Hidden
    private static Object channelOf(Object o) {
        if (o == null)
            return null;
        long[] at = answers.get(o.getClass());
        if (at[INNER] != 0) {
            o = U.getReference(o, at[INNER]);
            if (o == null)
                return null;
            at = answers.get(o.getClass());
        }
        if (at[PIPELINE] != 0)
            return get(U.getReference(o, at[PIPELINE]), CHANNEL);
        return at[ID] != 0 ? o : null;
    }

    // ---- the life's context, under its guard (trie/context.h) ----

    /** 0: context= is off, or there is no memory. */
    @Hidden
    private static long contextAt(long f) {
        long base = U.getLongVolatile(null, SHARED + SHARED_CONTEXTS), record = f & LOW & RECORD_MASK;
        if (base == 0)
            return 0;
        if (record < U.getLongVolatile(null, SHARED + SHARED_CONTEXTS_END)
                || BBFlowNative.contextReach((int) record))
            return base + record * CONTEXT_SIZE;
        dropped();
        return 0;
    }

    @Hidden
    private static void dropped() {
        U.getAndAddLong(null, SHARED + SHARED_CONTEXT_DROPPED, 1);
    }

    /** Until unlock(); no thread waits for it. A context of an older life becomes an empty one. */
    @Hidden
    private static boolean lock(long at, long f) {
        long guard = U.getLongVolatile(null, at + CONTEXT_GUARD);
        int newer = (int) (guard >>> 32) - (int) (f >>> 32);
        if ((guard & 1) != 0 || newer > 0
                || !U.compareAndSetLong(null, at + CONTEXT_GUARD, guard, f & HIGH | guard + 1 & LOW)) {
            dropped();
            return false;
        }
        if (newer != 0) {
            U.putLong(at + CONTEXT_CHANNEL, 0);
            U.putLong(at + CONTEXT_SIZES, 0);
            U.putLong(at + CONTEXT_THROWN, 0);
        }
        return true;
    }

    /** Release: a reader that finds this version finds the words. */
    @Hidden
    private static void unlock(long at) {
        long guard = U.getLong(at + CONTEXT_GUARD);
        U.putLongRelease(null, at + CONTEXT_GUARD, guard & HIGH | guard + 1 & LOW);
    }

    /** The channel word of the life's context; 0: there is none, or a thread writes it now. */
    @Hidden
    private static long channelWord(long at, long f) {
        long guard = U.getLongVolatile(null, at + CONTEXT_GUARD);
        return ((guard ^ f) >>> 32) == 0 && (guard & 1) == 0 ? U.getLong(at + CONTEXT_CHANNEL) : 0;
    }

    /** Other bits than `of` stay; with an id of the channel, if that is among `of`. */
    @Hidden
    private static void putKinds(long at, int of, int kinds, int id) {
        long word = U.getLong(at + CONTEXT_CHANNEL);
        long high = (of & CONTEXT_OF_CHANNEL) != 0 ? (long) id << 32 : word & HIGH;
        U.putLong(at + CONTEXT_CHANNEL, high | word & LOW & ~of | kinds);
    }

    // ---- sights ----

    /** An open life was here; in: the method's context or channel, null without one. */
    @DontInline
    @Hidden
    static void seen(Object o, Object in, int site) {
        if (o == null || U.getLong(SHARED + SHARED_CONTEXTS) == 0)
            return;
        long f = openLife(o);
        if (f == 0)
            return;
        long stripe = stripe();
        if (stripe != 0) {
            int next = U.getInt(stripe + STRIPE_NEXT_SIGHT);
            long at = sightAt(stripe, next);
            U.putInt(stripe + STRIPE_NEXT_SIGHT, next + 1);
            U.putLong(at, f);
            U.putLong(at + 8, (long) site << 32 | U.getInt(SHARED + SHARED_NOW) & LOW);
        }
        Object channel = channelOf(in);
        if (channel != null)
            noteChannel(f, channel);
    }

    /** The handle of the open life of a buffer, or of the first one in a holder; 0: there is none. */
    @Hidden
    private static long openLife(Object o) {
        long f = BBFlowLook.handleOf(o);
        return f != 0 && f != IGN && f != NEVER && isOpen(f) ? f : 0;
    }

    @Hidden
    private static long sightAt(long stripe, int number) {
        return stripe + STRIPE_SIGHTS + ((long) (number & SIGHT_SLOTS - 1) << 4);
    }

    // ---- channels ----

    /** CONTEXT_ID, EMBEDDED or NO_ID in the low half, the id above. */
    @Hidden
    static long idOf(Object channel) {
        Object id = get(channel, ID);
        long[] at = id != null ? answers.get(id.getClass()) : null;
        if (at != null && at[RANDOM] != 0)
            return (long) U.getInt(id, at[RANDOM]) << 32 | CONTEXT_ID;
        if (at != null && at[DATA] != 0) {
            byte[] data = (byte[]) U.getReference(id, at[DATA]);
            int n = data != null ? data.length : 0, last = 0;
            for (int i = n - INT_BYTES; n >= INT_BYTES && i < n; i++)
                last = last << 8 | data[i] & CHAR;
            if (n >= INT_BYTES)
                return (long) last << 32 | CONTEXT_ID;
        }
        return at != null && at[EMBEDDED] != 0 ? CONTEXT_EMBEDDED : CONTEXT_NO_ID;
    }

    @DontInline
    @Hidden
    private static void noteChannel(long f, Object channel) {
        long at = contextAt(f);
        if (at == 0)
            return;
        long id = idOf(channel), word = channelWord(at, f);
        int what = (int) id;
        boolean same = ((word ^ id) & (HIGH | CONTEXT_OF_CHANNEL)) == 0;
        if (same && (what != CONTEXT_ID || (word & CONTEXT_OF_ADDRESS) != 0))
            return; // as nearly always
        Object remote = remoteOf(channel);
        if (same && remote == null)
            return; // it has no other end still
        if (what == CONTEXT_NO_ID) {
            Object of = get(channel, ID);
            U.getAndAddLong(null, SHARED + SHARED_CONTEXT_UNREAD, 1);
            U.putInt(SHARED + SHARED_CONTEXT_UNREAD_OF, number((of != null ? of : channel).getClass()));
        }
        if (!lock(at, f))
            return;
        putKinds(at, CONTEXT_OF_CHANNEL | CONTEXT_OF_ADDRESS, what, (int) (id >>> 32));
        putSizes(at, 0, 0);
        if (remote != null)
            putAddress(at, remote);
        unlock(at);
    }

    /** As its transport keeps it; null: nowhere that is known. */
    @Hidden
    private static Object remoteOf(Object channel) {
        long[] at = answers.get(channel.getClass());
        for (int field = REMOTE; field <= URING; field++) {
            Object remote = at[field] != 0 ? U.getReference(channel, at[field]) : null;
            if (remote != null)
                return remote;
        }
        return at[NIO] != 0 ? get(U.getReference(channel, at[NIO]), NIO_REMOTE) : null;
    }

    @Hidden
    private static void putSizes(long at, int port, int address) {
        long hint = U.getLong(at + CONTEXT_SIZES) & 0xffff;
        U.putLong(at + CONTEXT_SIZES, (long) port << 32 | (long) address << 16 | hint);
    }

    @Hidden
    private static void putAddress(long at, Object remote) {
        Object holder = get(remote, INET);
        if (holder == null) {
            Object text = get(remote, LOCAL_TEXT);
            text = text != null ? text : get(remote, PATH);
            if (text != null)
                putAddressText(at, (String) text, 0);
            return;
        }
        long[] of = answers.get(holder.getClass());
        int port = of[PORT] != 0 ? U.getInt(holder, of[PORT]) & 0xffff : 0;
        Object ip = get(holder, ADDR), six = get(get(ip, HOLDER6), IPV6), four = get(ip, IP);
        long v4 = four != null ? answers.get(four.getClass())[IPV4] : 0;
        if (six != null) {
            byte[] bytes = (byte[]) six;
            if (bytes.length == IPV6_BYTES) {
                U.putLong(at + CONTEXT_ADDRESS, word(bytes, 0));
                U.putLong(at + CONTEXT_ADDRESS + 8, word(bytes, 8));
                putSizes(at, port, IPV6_BYTES);
                putKinds(at, CONTEXT_OF_ADDRESS, CONTEXT_IPV6, 0);
            }
        } else if (v4 != 0) {
            U.putLong(at + CONTEXT_ADDRESS, Integer.reverseBytes(U.getInt(four, v4)) & LOW);
            putSizes(at, port, INT_BYTES);
            putKinds(at, CONTEXT_OF_ADDRESS, CONTEXT_IPV4, 0);
        } else if (ip == null && get(holder, HOSTNAME) != null) {
            putAddressText(at, (String) get(holder, HOSTNAME), port);
        }
    }

    @Hidden
    private static void putAddressText(long at, String text, int port) {
        int size = putText(at + CONTEXT_ADDRESS, text, CONTEXT_ADDRESS_BYTES);
        putSizes(at, port, size & 0xffff);
        putKinds(at, CONTEXT_OF_ADDRESS, (size & CONTEXT_WIDE << 16) != 0 ? CONTEXT_UTF16 : CONTEXT_LATIN1, 0);
    }

    // ---- texts, in whole words ----

    @Hidden
    private static long word(byte[] bytes, int from) {
        long word = 0;
        for (int i = 0; i < 8; i++)
            word |= (bytes[from + i] & (long) CHAR) << 8 * i;
        return word;
    }

    /** At most `room` bytes; how many in the low half, CONTEXT_WIDE and CONTEXT_CUT above it. */
    @Hidden
    private static int putText(long to, String text, int room) {
        int length = text.length(), n = Math.min(length, room), width = 1;
        for (int i = 0; i < n; i++)
            if (text.charAt(i) > CHAR) {
                width = 2;
                n = Math.min(length, room / 2);
                break;
            }
        for (int i = 0; i < n; to += 8) {
            long word = 0;
            for (int bits = 0; bits < 64 && i < n; bits += 8 * width, i++)
                word |= (long) text.charAt(i) << bits;
            U.putLong(to, word);
        }
        return n * width | (width == 2 ? CONTEXT_WIDE << 16 : 0) | (n < length ? CONTEXT_CUT << 16 : 0);
    }

    // ---- touch() ----

    /** A pipeline passes the context of the handler that is next: it replaces no hint of the user. */
    @DontInline
    @Hidden
    static void touched(Object o, Object hint) {
        if (hint == null || U.getLong(SHARED + SHARED_CONTEXTS) == 0)
            return;
        long f = openLife(o), at = f != 0 ? contextAt(f) : 0;
        if (at == 0)
            return;
        Object name = get(hint, NAME);
        if (name != null) {
            Object channel = channelOf(hint);
            if (channel != null)
                noteChannel(f, channel);
            long kind = channelWord(at, f) & CONTEXT_OF_HINT;
            if (kind == CONTEXT_TEXT || kind == CONTEXT_CLASS)
                return;
        }
        int number = name == null && !(hint instanceof String) ? number(hint.getClass()) : 0;
        if (!lock(at, f))
            return;
        if (name != null)
            putHint(at, CONTEXT_HANDLER, (String) name);
        else if (hint instanceof String)
            putHint(at, CONTEXT_TEXT, (String) hint);
        else {
            U.putLong(at + CONTEXT_HINT, number);
            putHintSize(at, 8);
            putKinds(at, CONTEXT_OF_HINT | CONTEXT_WIDE | CONTEXT_CUT, CONTEXT_CLASS, 0);
        }
        unlock(at);
    }

    @Hidden
    private static void putHint(long at, int kind, String text) {
        int size = putText(at + CONTEXT_HINT, text, CONTEXT_HINT_BYTES);
        putHintSize(at, size & 0xffff);
        putKinds(at, CONTEXT_OF_HINT | CONTEXT_WIDE | CONTEXT_CUT, kind | size >>> 16, 0);
    }

    @Hidden
    private static void putHintSize(long at, int bytes) {
        U.putLong(at + CONTEXT_SIZES, U.getLong(at + CONTEXT_SIZES) & ~0xffffL | bytes);
    }

    // ---- exceptions ----

    /** A followed method caught it: the buffer that this method had last in this thread. */
    @DontInline
    @Hidden
    static void caught(Object thrown, int site) {
        if (thrown == null || U.getLong(SHARED + SHARED_CONTEXTS) == 0)
            return;
        long stripe = stripe(), f = stripe != 0 ? lastSight(stripe, site, 0, 0) : 0;
        if (f != 0)
            noteThrown(stripe, f, thrown, site);
    }

    /** A pipeline has it: the buffer that this thread saw last on its channel. */
    @DontInline
    @Hidden
    static void pipelineCaught(Object context, Object thrown) {
        if (thrown == null || U.getLong(SHARED + SHARED_CONTEXTS) == 0)
            return;
        Object channel = channelOf(context);
        long stripe = channel != null ? stripe() : 0, id = stripe != 0 ? idOf(channel) : 0;
        if (stripe == 0 || (int) id == CONTEXT_NO_ID)
            return;
        long f = lastSight(stripe, 0, id, HIGH | CONTEXT_OF_CHANNEL);
        if (f != 0)
            noteThrown(stripe, f, thrown, 0);
    }

    /** Of this site, or (mask) on the channel of that id; 0: none that is new enough. */
    @Hidden
    private static long lastSight(long stripe, int site, long id, long mask) {
        int next = U.getInt(stripe + STRIPE_NEXT_SIGHT), now = U.getInt(SHARED + SHARED_NOW);
        for (int i = 1; i <= SIGHT_SLOTS; i++) {
            long at = sightAt(stripe, next - i), f = U.getLong(at), word = U.getLong(at + 8);
            if (f == 0 || !isOpen(f) || now - (int) word > SIGHT_SECONDS)
                continue;
            if (mask == 0 ? (int) (word >>> 32) == site : isOn(f, id, mask))
                return f;
        }
        return 0;
    }

    @Hidden
    private static boolean isOn(long f, long id, long mask) {
        long at = contextAt(f);
        return at != 0 && ((channelWord(at, f) ^ id) & mask) == 0;
    }

    /** The buffer is not meant by a later exception until it is seen again. */
    @Hidden
    private static void noteThrown(long stripe, long f, Object thrown, int site) {
        for (int i = 0; i < SIGHT_SLOTS; i++)
            if (U.getLong(sightAt(stripe, i)) == f)
                U.putLong(sightAt(stripe, i), 0);
        int number = number(thrown.getClass());
        long at = contextAt(f);
        if (at == 0 || !lock(at, f))
            return;
        U.putLong(at + CONTEXT_THROWN, (long) site << 32 | number);
        putKinds(at, CONTEXT_CAUGHT, CONTEXT_CAUGHT, 0);
        unlock(at);
    }
}
