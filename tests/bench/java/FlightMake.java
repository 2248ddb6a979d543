import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.AnnotationElement;
import jdk.jfr.Configuration;
import jdk.jfr.DataAmount;
import jdk.jfr.Event;
import jdk.jfr.EventFactory;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.Timespan;
import jdk.jfr.Timestamp;
import jdk.jfr.ValueDescriptor;

/**
 * A recording of this JVM in which little repeats: FlightMake FILE MEGABYTES TYPES [SETTINGS]. TYPES event types
 * with fields of all kinds; each event has a stack of its own out of 8^16, and texts, classes and threads that are
 * mostly new. SETTINGS (default: profile) are the JVM's own events beside them. Needs
 * -XX:FlightRecorderOptions=repository=FOLDER on a disk with room.
 */
public final class FlightMake {
    private static final Class<?>[] KINDS = {int.class, long.class, String.class, double.class,
        boolean.class, Class.class, short.class, float.class, Thread.class, char.class, byte.class};
    private final Random random = new Random(20261123);
    private final List<Class<?>> classes = new ArrayList<>();
    private final List<EventFactory> factories = new ArrayList<>();
    private final List<List<ValueDescriptor>> fields = new ArrayList<>();
    private Thread named = Thread.currentThread();
    private long made;

    private FlightMake(int types) {
        for (int i = 0; i < types; i++) {
            List<ValueDescriptor> list = fieldsOf(i);
            fields.add(list);
            factories.add(EventFactory.create(List.of(
                new AnnotationElement(Name.class, "com.app.kind" + i % 37 + ".Event" + i),
                new AnnotationElement(Label.class, "Event of kind " + i)), list));
        }
    }

    private static List<ValueDescriptor> fieldsOf(int type) {
        List<ValueDescriptor> list = new ArrayList<>();
        for (int f = 0; f <= type % 9; f++) {
            Class<?> kind = KINDS[(type * 7 + f * 3) % KINDS.length];
            List<AnnotationElement> notes = kind != long.class ? List.of()
                : List.of(switch (type % 3) {
                    case 0 -> new AnnotationElement(DataAmount.class, DataAmount.BYTES);
                    case 1 -> new AnnotationElement(Timespan.class, Timespan.NANOSECONDS);
                    default -> new AnnotationElement(Timestamp.class, Timestamp.MILLISECONDS_SINCE_EPOCH);
                });
            list.add(new ValueDescriptor(kind, "field" + f, notes));
        }
        return list;
    }

    /** A class that no event had before; the last 2000 stay. */
    private Class<?> nextClass() {
        if (made % 256 == 0 || classes.isEmpty()) {
            ClassLoader loader = new ClassLoader(FlightMake.class.getClassLoader()) { };
            Class<?> fresh = Proxy.getProxyClass(loader, Runnable.class);
            if (classes.size() < 2000) {
                classes.add(fresh);
            } else {
                classes.set(random.nextInt(classes.size()), fresh);
            }
        }
        return classes.get(random.nextInt(classes.size()));
    }

    private String text() {
        int length = random.nextInt(8) == 0 ? random.nextInt(300) : random.nextInt(30);
        StringBuilder to = new StringBuilder();
        for (int i = 0; i < length; i++) {
            to.append((char) (random.nextInt(50) == 0 ? 0xA0 + random.nextInt(0x2000) : 'a' + random.nextInt(26)));
        }
        return random.nextInt(20) == 0 ? null : to.toString();
    }

    /** They stay: a JVM leaves an ended thread out of its next chunk, where readers differ (docs/jfr.md). */
    private Thread nextThread() {
        if (made % 4096 == 0) {
            named = new Thread(LockSupport::park, "worker " + made);
            named.setDaemon(true);
            named.start();
        }
        return named;
    }

    private Object valueOf(Class<?> kind) {
        if (kind == int.class) {
            return random.nextInt();
        } else if (kind == long.class) {
            return random.nextLong() >> random.nextInt(64);
        } else if (kind == String.class) {
            return text();
        } else if (kind == double.class) {
            return random.nextGaussian();
        } else if (kind == boolean.class) {
            return random.nextBoolean();
        } else if (kind == Class.class) {
            return nextClass();
        } else if (kind == short.class) {
            return (short) random.nextInt();
        } else if (kind == float.class) {
            return random.nextFloat();
        } else if (kind == Thread.class) {
            return nextThread();
        } else if (kind == char.class) {
            return (char) ('a' + random.nextInt(26));
        }
        return (byte) random.nextInt();
    }

    private void commit() {
        int type = random.nextInt(factories.size());
        Event event = factories.get(type).newEvent();
        List<ValueDescriptor> of = fields.get(type);
        event.begin();
        for (int i = 0; i < of.size(); i++) {
            event.set(i, valueOf(KINDS[(type * 7 + i * 3) % KINDS.length]));
        }
        event.commit();
        made++;
    }

    /** Sixteen calls, each to one of eight methods by three bits of `way`. */
    private void step(long way, int left) {
        if (left == 0) {
            commit();
            return;
        }
        switch ((int) (way & 7)) {
            case 0 -> zero(way >>> 3, left - 1);
            case 1 -> one(way >>> 3, left - 1);
            case 2 -> two(way >>> 3, left - 1);
            case 3 -> three(way >>> 3, left - 1);
            case 4 -> four(way >>> 3, left - 1);
            case 5 -> five(way >>> 3, left - 1);
            case 6 -> six(way >>> 3, left - 1);
            default -> seven(way >>> 3, left - 1);
        }
    }

    private void zero(long way, int left) {
        step(way, left);
    }

    private void one(long way, int left) {
        step(way, left);
    }

    private void two(long way, int left) {
        step(way, left);
    }

    private void three(long way, int left) {
        step(way, left);
    }

    private void four(long way, int left) {
        step(way, left);
    }

    private void five(long way, int left) {
        step(way, left);
    }

    private void six(long way, int left) {
        step(way, left);
    }

    private void seven(long way, int left) {
        step(way, left);
    }

    public static void main(String[] args) throws Exception {
        FlightMake make = new FlightMake(Integer.parseInt(args[2]));
        long bytes = Long.parseLong(args[1]) << 20;
        try (Recording recording = new Recording(
                Configuration.getConfiguration(args.length > 3 ? args[3] : "profile"))) {
            recording.setToDisk(true);
            recording.start();
            while (recording.getSize() < bytes) {
                for (int i = 0; i < 10000; i++) {
                    make.step(make.random.nextLong(), make.random.nextInt(17));
                }
            }
            recording.stop();
            recording.dump(Path.of(args[0]));
        }
        System.out.println(make.made + " events, " + Files.size(Path.of(args[0])) + " bytes");
    }
}
