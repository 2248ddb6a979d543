package com.app;

import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * two PATH1 PATH2 COMMAND [ARGS]: the same probe in two class loaders at the same time, each with a
 * Netty of its own on its path (two versions, or one plain and one relocated).
 */
final class Two {
    private Two() {
    }

    static void run(String[] args) throws Exception {
        String[] rest = Arrays.copyOfRange(args, 2, args.length);
        CountDownLatch both = new CountDownLatch(2);
        List<Throwable> failures = new ArrayList<>();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            ClassLoader loader = loader(args[i]);
            Method main = Class.forName("com.app.Probes", true, loader).getMethod("main",
                    String[].class);
            threads[i] = new Thread(() -> {
                try {
                    both.countDown();
                    both.await();
                    main.invoke(null, (Object) rest);
                } catch (Throwable e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            });
            threads[i].setContextClassLoader(loader);
            threads[i].start();
        }
        for (Thread t : threads) {
            t.join();
        }
        for (Throwable e : failures) {
            throw new IllegalStateException(e);
        }
    }

    private static ClassLoader loader(String path) throws Exception {
        List<URL> urls = new ArrayList<>();
        for (String part : path.split(File.pathSeparator)) {
            urls.add(new File(part).toURI().toURL());
        }
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    }
}
