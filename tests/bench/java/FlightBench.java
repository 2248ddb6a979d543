import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedObject;
import jdk.jfr.consumer.RecordingFile;

/**
 * The work of flight_bench.c with the JDK's own reader: FlightBench FILE. One round for each line of standard input;
 * the first rounds are slower, because the JVM compiles. RecordingFile makes an event's objects when they are asked
 * for: here getValue() is called for each field of each object, so that all of them are made.
 */
public final class FlightBench {
    private static final int DEPTH = 6;
    private long events;
    private long values;
    private long characters;

    private void addFields(RecordedObject of, int depth) {
        List<ValueDescriptor> fields = of.getFields();
        for (ValueDescriptor field : fields) {
            addValue(of.getValue(field.getName()), depth);
        }
    }

    private void addValue(Object value, int depth) {
        values++;
        if (value instanceof String text) {
            characters += text.length();
        } else if (value instanceof RecordedObject object) {
            if (depth < DEPTH) {
                addFields(object, depth + 1);
            }
        } else if (value instanceof Object[] list) {
            for (Object element : list) {
                addValue(element, depth);
            }
        }
    }

    /** Of this thread alone: what the collector and the compiler take is left out. */
    private static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static void round(Path path) throws Exception {
        FlightBench sums = new FlightBench();
        long begin = cpu();
        long wall = System.nanoTime();
        try (RecordingFile file = new RecordingFile(path)) {
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                sums.events++;
                sums.addFields(event, 0);
            }
        }
        System.out.println("events=" + sums.events + " values=" + sums.values + " characters="
                + sums.characters + " ns=" + (cpu() - begin)
                + " wall=" + (System.nanoTime() - wall) + " bytes=" + Files.size(path));
    }

    public static void main(String[] args) throws Exception {
        while (System.in.read() == '\n') {
            round(Path.of(args[0]));
        }
    }
}
