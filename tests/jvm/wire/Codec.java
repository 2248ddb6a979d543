import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.btrace.core.comm.*;

/**
 * The v1 codec of BTrace 2.2.6, on every command, beside ours.
 *
 *   write FILE     the commands, as the real peers send them: each behind a reset
 *   show FILE      what its reader makes of a stream, one line a command
 *   bench SECONDS  commands a second: "INDEX NAME BYTES WRITE READ"
 */
public final class Codec {
    static String text(int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; text.length() < length; i++) {
            text.append("leak #").append(i).append(" PooledUnsafeDirectByteBuf ridx=").append(i * 37)
                .append(" at io.netty.buffer.PooledByteBufAllocator.newDirectBuffer\n");
        }
        return text.substring(0, length);
    }

    static Map<String, Number> numbers() {
        Map<String, Number> map = new LinkedHashMap<>();
        for (int i = 0; i < 20; i++) {
            map.put("key-" + i, 4096L * i);
        }
        return map;
    }

    static Map<String, Number> kinds() {
        Map<String, Number> map = new LinkedHashMap<>();
        map.put("int", -7);
        map.put("long", 1L << 40);
        map.put("float", 0.1f);
        map.put("double", -1e300);
        map.put("null", null);
        map.put("big", new BigInteger("-123456789012345678901234567890"));
        map.put("exact", new BigDecimal("-1.230E+400"));
        return map;
    }

    static List<Object[]> rows(int n) {
        List<Object[]> rows = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            rows.add(new Object[] {"io.netty.buffer.Site#alloc:" + i, i, 4096L * i, 0.5f, 0.25 * i,
                "direct"});
        }
        return rows;
    }

    static Map<String, Object> settings() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("debug", false);
        map.put("trusted", false);
        map.put("probeDescPath", ".");
        map.put("scriptOutputFile", null);
        map.put("level", 5);
        return map;
    }

    static List<Command> commands() {
        Map<String, String> strings = new LinkedHashMap<>();
        strings.put("a", "ä\u20ac\ud83d\ude00");
        strings.put("b", "");
        ListProbesCommand probes = new ListProbesCommand();
        probes.setProbes(Arrays.asList("123e4567-e89b-12d3-a456-426614174000 [demo.Trace]"));
        byte[] code = new byte[4096];
        return Arrays.asList(
            new EventCommand("tree"), new ExitCommand(-1), new StatusCommand(8),
            new StatusCommand(-1), new InstrumentCommand(code, strings),
            new InstrumentCommand(new byte[100 * 1024], strings),
            new MessageCommand(0, text(42)), new MessageCommand(1638360000000L, text(500), true),
            new MessageCommand(0, text(10240)), new RenameCommand("demo.Trace$1"),
            new NumberMapDataCommand("sizes", numbers()), new NumberMapDataCommand("kinds", kinds()),
            new StringMapDataCommand("names", strings), new NumberDataCommand("n", 42),
            new NumberDataCommand("big", new BigInteger("123456789012345678901234567890")),
            new NumberDataCommand("exact", new BigDecimal("-1.230E+400")),
            new GridDataCommand("leaks", rows(10)), new GridDataCommand("many", rows(1000)),
            new RetransformationStartNotification(123), new RetransformClassNotification("a.B"),
            new SetSettingsCommand(settings()), probes, new ListProbesCommand(),
            new DisconnectCommand("123e4567-e89b-12d3-a456-426614174000"),
            new ReconnectCommand("123e4567-e89b-12d3-a456-426614174000"),
            new ErrorCommand(new IOException("no room")));
    }

    static String sorted(Map<?, ?> map) {
        Map<String, String> out = new TreeMap<>();
        map.forEach((k, v) -> out.put(String.valueOf(k), value(v)));
        return out.toString();
    }

    static String value(Object v) {
        return v == null ? "null" : v.getClass().getSimpleName() + ":" + v;
    }

    static String print(PrintableCommand command) {
        StringWriter out = new StringWriter();
        command.print(new PrintWriter(out, true));
        return out.toString().trim();
    }

    /** Everything that the command says, on one line. */
    static String describe(Command c) {
        String head = c.getClass().getSimpleName() + " ";
        if (c instanceof EventCommand) return head + ((EventCommand) c).getEvent();
        if (c instanceof ExitCommand) return head + ((ExitCommand) c).getExitCode();
        if (c instanceof StatusCommand)
            return head + ((StatusCommand) c).getFlag() + ((StatusCommand) c).isSuccess();
        if (c instanceof InstrumentCommand)
            return head + Arrays.hashCode(((InstrumentCommand) c).getCode())
                + ((InstrumentCommand) c).getArguments();
        if (c instanceof MessageCommand)
            return head + ((MessageCommand) c).getTime() + c.isUrgent()
                + ((MessageCommand) c).getMessage().replace("\n", "|");
        if (c instanceof RenameCommand) return head + ((RenameCommand) c).getNewName();
        if (c instanceof NumberMapDataCommand)
            return head + ((DataCommand) c).getName() + sorted(((NumberMapDataCommand) c).getData());
        if (c instanceof StringMapDataCommand)
            return head + ((DataCommand) c).getName() + sorted(((StringMapDataCommand) c).getData());
        if (c instanceof NumberDataCommand)
            return head + ((DataCommand) c).getName() + value(((NumberDataCommand) c).getValue());
        if (c instanceof GridDataCommand) {
            StringBuilder out = new StringBuilder(head + ((DataCommand) c).getName());
            for (Object[] row : ((GridDataCommand) c).getData())
                for (Object cell : row) out.append(' ').append(value(cell));
            return out.toString();
        }
        if (c instanceof RetransformationStartNotification)
            return head + ((RetransformationStartNotification) c).getNumClasses();
        if (c instanceof SetSettingsCommand) return head + sorted(((SetSettingsCommand) c).getParams());
        if (c instanceof ReconnectCommand) return head + ((ReconnectCommand) c).getProbeId();
        if (c instanceof ErrorCommand) /* ours is a RuntimeException that says the other's text */
            return head + ((ErrorCommand) c).getCause().toString().contains("no room");
        return head + print((PrintableCommand) c).replace("\n", "|");
    }

    static void write(ObjectOutputStream out, Command command) throws IOException {
        out.reset();
        WireIO.write(out, command);
    }

    static void show(String file) throws IOException {
        try (ObjectInputStream in = new ObjectInputStream(
                new BufferedInputStream(new FileInputStream(file)))) {
            for (;;) System.out.println(describe(WireIO.read(in)));
        } catch (EOFException end) {
            System.out.println("end");
        }
    }

    static double rate(long operations, long nanos) {
        return operations * 1e9 / nanos;
    }

    static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    /** The best of three rounds of `seconds` of this thread's processor time, after one to warm. */
    static double writes(Command command, int batch, double seconds) throws IOException {
        double best = 0;
        ByteArrayOutputStream to = new ByteArrayOutputStream(1 << 20);
        ObjectOutputStream out = new ObjectOutputStream(to);
        for (int round = 0; round < 4; round++) {
            long n = 0, start = cpu(), now;
            do {
                for (int i = 0; i < batch; i++, n++) {
                    to.reset();
                    write(out, command);
                    out.flush();
                }
                now = cpu();
            } while (now - start < seconds * 1e9);
            best = round == 0 ? 0 : Math.max(best, rate(n, now - start));
        }
        return best;
    }

    /** Keeps the command that was read, as our reader gives it to a caller: else the compiler removes the objects. */
    static Command read;
    static final VarHandle READ;

    static {
        try {
            READ = MethodHandles.lookup().findStaticVarHandle(Codec.class, "read", Command.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static double reads(byte[] stream, int batch, double seconds) throws IOException {
        double best = 0;
        for (int round = 0; round < 4; round++) {
            long n = 0, start = cpu(), now;
            do {
                ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(stream));
                for (int i = 0; i < batch; i++, n++) READ.setOpaque(WireIO.read(in));
                now = cpu();
            } while (now - start < seconds * 1e9);
            best = round == 0 ? 0 : Math.max(best, rate(n, now - start));
        }
        return best;
    }

    static void bench(double seconds) throws IOException {
        int index = 0;
        for (Command command : commands()) {
            ByteArrayOutputStream to = new ByteArrayOutputStream();
            ObjectOutputStream out = new ObjectOutputStream(to);
            write(out, command);
            out.flush();
            int bytes = to.size() - 4, batch = Math.max(8, Math.min(2000, 4_000_000 / bytes));
            for (int i = 1; i < batch; i++) write(out, command);
            out.flush();
            System.out.printf("%d %s %d %.0f %.0f%n", index++, command.getClass().getSimpleName(),
                bytes, writes(command, batch, seconds), reads(to.toByteArray(), batch, seconds));
        }
    }

    public static void main(String[] args) throws IOException {
        if (args[0].equals("write")) {
            try (OutputStream file = new FileOutputStream(args[1]);
                 ObjectOutputStream out = new ObjectOutputStream(file)) {
                for (Command command : commands()) write(out, command);
            }
        } else if (args[0].equals("show")) {
            show(args[1]);
        } else {
            bench(Double.parseDouble(args[1]));
        }
    }
}
