import java.io.File;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;

/** SynthRun FOLDER RESULTS EVENTS: runs each class of FOLDER/expected.tsv; what it returned, and its events. */
public final class SynthRun {
    public static void main(String[] args) throws Exception {
        File folder = new File(args[0]);
        ClassLoader loader =
                new URLClassLoader(
                        new URL[] {folder.toURI().toURL()}, ClassLoader.getPlatformClassLoader());
        // The shim of the boot loader; the class path has one, too, which nobody calls.
        Method take = Class.forName("bbflow.RewriteShim", true, null).getMethod("take");
        try (PrintStream results = new PrintStream(args[1]);
                PrintStream events = new PrintStream(args[2])) {
            for (String line : Files.readAllLines(folder.toPath().resolve("expected.tsv"))) {
                String name = line.substring(0, line.indexOf('\t'));
                String result;
                take.invoke(null);
                try {
                    result = "" + Class.forName(name, true, loader).getMethod("run").invoke(null);
                } catch (Throwable t) {
                    Throwable cause = t.getCause() != null ? t.getCause() : t;
                    result = String.valueOf(cause).replace('\n', ' ');
                }
                StringBuilder counts = new StringBuilder(name);
                for (long count : (long[]) take.invoke(null)) {
                    counts.append('\t').append(count);
                }
                results.println(name + "\t" + result);
                events.println(counts);
            }
        }
    }
}
