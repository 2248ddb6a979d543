import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * MutantLoad PACK FROM OUT: defines, links (so: verifies) and reflects on each class of PACK
 * (tests/fuzz/class_mutants.c) from number FROM on, each in a loader of its own, without
 * initialising it. Appends to OUT a line per class: how far it came (define, link, reflect, OK), the
 * class of the error or a hash of what reflection says, the text, the changes. A line is written
 * before the next class is begun, so that a crash names its class.
 */
public final class MutantLoad extends ClassLoader {
    private MutantLoad() {
        super(MutantLoad.class.getClassLoader());
    }

    public static void main(String[] args) throws Exception {
        int from = Integer.parseInt(args[1]);
        try (DataInputStream in =
                        new DataInputStream(
                                new BufferedInputStream(new FileInputStream(args[0]), 1 << 16));
                PrintStream out = new PrintStream(new FileOutputStream(args[2], true), false)) {
            for (int i = 0; in.available() > 0; i++) {
                String changes = new String(read(in), "ISO-8859-1");
                byte[] bytes = read(in);
                if (i >= from) {
                    out.print(load(bytes) + "\t" + changes + "\n");
                    out.flush();
                }
            }
        }
    }

    private static byte[] read(DataInputStream in) throws Exception {
        byte[] bytes = new byte[in.readInt()];
        in.readFully(bytes);
        return bytes;
    }

    private static String load(byte[] bytes) {
        String stage = "define";
        try {
            Class<?> c = new MutantLoad().defineClass(null, bytes, 0, bytes.length);
            stage = "link";
            // HotSpot links the class to answer this (JVM_GetClassDeclaredFields).
            c.getDeclaredFields();
            stage = "reflect";
            return "OK\t" + Integer.toHexString(reflect(c).hashCode()) + "\t";
        } catch (Throwable t) {
            String text = String.valueOf(t.getMessage()).replaceAll("[^ -~]", " ");
            return stage + "\t" + t.getClass().getName() + "\t"
                    + text.substring(0, Math.min(text.length(), 1500));
        }
    }

    /** What reflection says of the members and their annotations, in an order of our own. */
    private static String reflect(Class<?> c) {
        List<String> all = new ArrayList<>();
        all.add(c.getName() + c.getModifiers() + c.getSuperclass());
        for (Field f : c.getDeclaredFields()) {
            all.add("f" + f + f.getModifiers() + f.getDeclaredAnnotations().length);
        }
        for (Method m : c.getDeclaredMethods()) {
            all.add("m" + m + m.getModifiers() + m.getDeclaredAnnotations().length
                    + m.getParameterAnnotations().length
                    + m.getAnnotatedReturnType().getAnnotations().length);
        }
        for (Constructor<?> n : c.getDeclaredConstructors()) {
            all.add("n" + n + n.getModifiers() + n.getDeclaredAnnotations().length);
        }
        Collections.sort(all);
        return all.toString();
    }
}
