import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * LinkAll OUT jrt MODULE... | LinkAll OUT jars FOLDER: loads and links (so: verifies) every class,
 * without initialising it. Writes a line per class: its name, "OK" or the class of the error, its
 * text. A run with the rewriter is compared with one without, by the first two. -Dbbflow.sample=N:
 * one class in N only.
 */
public final class LinkAll {
    public static void main(String[] args) throws Exception {
        Map<String, ClassLoader> classes = new LinkedHashMap<>();
        for (int i = 2; i < args.length; i++) {
            if (args[1].equals("jrt")) {
                addModule(args[i], classes);
            } else {
                addJars(new File(args[i]), classes);
            }
        }
        int sample = Integer.getInteger("bbflow.sample", 1);
        int ok = 0;
        int number = 0;
        int linked = 0;
        try (PrintStream out =
                new PrintStream(new BufferedOutputStream(new FileOutputStream(args[0])))) {
            for (Map.Entry<String, ClassLoader> e : classes.entrySet()) {
                if (number++ % sample != 0) {
                    continue;
                }
                linked++;
                String result = link(e.getKey(), e.getValue());
                ok += result.equals("OK") ? 1 : 0;
                out.println(e.getKey() + "\t" + result);
            }
        }
        System.out.println(linked + " classes, " + ok + " linked");
    }

    private static String link(String name, ClassLoader loader) {
        try {
            // HotSpot links the class to answer this (JVM_GetClassDeclaredFields).
            Class.forName(name, false, loader).getDeclaredFields();
            return "OK";
        } catch (Throwable t) {
            String text = String.valueOf(t.getMessage()).replace('\n', ' ');
            return t.getClass().getName() + "\t" + text.substring(0, Math.min(text.length(), 400));
        }
    }

    private static void addModule(String module, Map<String, ClassLoader> classes)
            throws Exception {
        Path root = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules", module);
        ClassLoader loader = ModuleLayer.boot().findModule(module).get().getClassLoader();
        try (Stream<Path> files = Files.walk(root)) {
            files.filter(p -> p.toString().endsWith(".class"))
                    .map(p -> p.subpath(2, p.getNameCount()).toString())
                    .filter(n -> !n.equals("module-info.class"))
                    .forEach(n -> classes.put(className(n), loader));
        }
    }

    private static void addJars(File folder, Map<String, ClassLoader> classes) throws Exception {
        List<URL> urls = new ArrayList<>();
        File[] jars = folder.listFiles((f, n) -> n.endsWith(".jar"));
        java.util.Arrays.sort(jars);
        for (File jar : jars) {
            urls.add(jar.toURI().toURL());
        }
        ClassLoader loader =
                new URLClassLoader(
                        urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
        for (File jar : jars) {
            try (ZipFile zip = new ZipFile(jar)) {
                for (ZipEntry e : Collections.list(zip.entries())) {
                    String n = e.getName();
                    if (n.endsWith(".class")
                            && !n.startsWith("META-INF/")
                            && !n.endsWith("-info.class")) {
                        classes.putIfAbsent(className(n), loader);
                    }
                }
            }
        }
    }

    private static String className(String file) {
        return file.substring(0, file.length() - 6).replace('/', '.');
    }
}
