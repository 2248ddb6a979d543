import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Corner: what javac makes of the language; prints one line, which must not change. */
public final class Corner {
    interface Shape {
        double area();

        default String describe(Object suffix) {
            return label(getClass()) + suffix;
        }

        private String label(Class<?> c) {
            return c.getSimpleName();
        }

        static Shape square(double side) {
            return () -> side * side;
        }
    }

    enum Level {
        LOW("l"),
        HIGH("h") {
            @Override
            String text(Object o) {
                return "high" + o;
            }
        };

        private final String letter;

        Level(String letter) {
            this.letter = letter;
        }

        String text(Object o) {
            return letter + o;
        }
    }

    static class Base<T extends Comparable<T>> {
        T value;

        Base(T value) {
            this.value = value == null ? null : pick(value, value);
        }

        T pick(T a, T b) {
            return a.compareTo(b) < 0 ? a : b;
        }
    }

    static final class Derived extends Base<String> {
        final Supplier<String> captured;

        Derived(String a, boolean flag) {
            super(flag ? a : new StringBuilder(a).reverse().toString());
            captured = () -> value + a;
        }

        @Override
        String pick(String a, String b) { // has a bridge
            return super.pick(a, b) + "!";
        }
    }

    private static String strings(String s, Level level) {
        switch (s) {
            case "Aa": // the same hash as BB
            case "BB":
                return "hash" + level.text(s);
            case "x":
                switch (level) {
                    case LOW:
                        return "low";
                    default:
                        break;
                }
                return "x";
            default:
                return null;
        }
    }

    private static Object resources(byte[] bytes) throws IOException {
        try (InputStream a = new ByteArrayInputStream(bytes);
                InputStream b = new ByteArrayInputStream(bytes)) {
            synchronized (bytes) {
                return a.read() + b.read();
            }
        } finally {
            bytes[0]++;
        }
    }

    private static Object nested(Object o, int depth) {
        loop:
        while (true) {
            try {
                try {
                    if (depth-- == 0) {
                        throw new IllegalStateException("deep");
                    }
                    for (Object p = o; ; p = p.toString()) {
                        if (depth > 2) {
                            continue loop;
                        }
                        return nested(p, depth);
                    }
                } catch (IllegalStateException e) {
                    throw new IllegalArgumentException(e.getMessage() + depth, e);
                }
            } catch (IllegalArgumentException e) {
                return e.getMessage() + o;
            } finally {
                o = o == null ? "" : o;
            }
        }
    }

    private static <T> T generic(T a, long b, double c, T[] rest) {
        T[] copy = rest.clone();
        return b > c ? a : copy[copy.length - 1];
    }

    @Target(ElementType.TYPE_USE)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Mark {
        String value() default "";

        int[] numbers() default {};

        Class<?> type() default Object.class;
    }

    /** A type annotation on everything that can have one inside of a method. */
    private static Object annotated(Object o) {
        @Mark("local") List<@Mark(numbers = {1, 2}) String> list = new @Mark ArrayList<>();
        try (@Mark InputStream in = new @Mark("new") ByteArrayInputStream(new @Mark byte[1])) {
            if (o instanceof @Mark(type = String.class) String) {
                return (@Mark("cast") String) o;
            }
            Supplier<Object> made = @Mark ArrayList<Object>::new;
            Function<Object, Object> text = @Mark Object::toString;
            list.add(Corner.<@Mark String>same("s") + made.get() + text.apply(in.read()));
        } catch (@Mark("caught") RuntimeException | IOException e) {
            return (@Mark Object & java.io.Serializable) e;
        }
        return new <@Mark Object>ArrayList<@Mark String>(list);
    }

    private static <T> T same(T t) {
        return t;
    }

    public static void main(String[] args) throws Exception {
        List<Object> out = new ArrayList<>();
        for (String s : new String[] {"Aa", "BB", "x", "y"}) {
            for (Level level : Level.values()) {
                out.add(strings(s, level));
            }
        }
        out.add(resources(new byte[] {3, 4}));
        out.add(nested("n", 5));
        out.add(generic("a", 1, 2, new String[] {"b", "c"}));
        out.add(new Derived("ab", true).captured.get() + new Derived("ab", false).captured.get());
        Shape square = Shape.square(3);
        out.add(square.area() + square.describe("").replaceAll(".*Lambda.*", "lambda"));
        Function<Object, Function<Object, Object>> curried = a -> b -> "" + a + b;
        out.add(curried.apply(1).apply(2L));
        Map<Boolean, List<String>> parts =
                IntStream.range(0, 20)
                        .mapToObj(Integer::toString)
                        .sorted(Comparator.comparing(String::length).reversed())
                        .collect(Collectors.partitioningBy(s -> s.length() > 1));
        out.add(new TreeMap<>(parts));
        Map<String, int[][]> arrays = new HashMap<>();
        arrays.computeIfAbsent("k", k -> new int[2][3])[1][2] += 7;
        out.add(Arrays.deepToString(arrays.get("k")));
        Callable<Object> local =
                new Callable<Object>() {
                    private final Object from = out.size();

                    @Override
                    public Object call() {
                        return from;
                    }
                };
        out.add(local.call());
        out.add("" + annotated("s") + annotated(1));
        System.out.println(out);
    }
}
