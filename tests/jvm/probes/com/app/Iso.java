package com.app;

import java.io.File;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import java.util.List;

/**
 * Iso platform|app PATH COMMAND [ARGS]: Netty and the probes in a loader of their own, as in Spring
 * Boot, OSGi or Tomcat; its parent is the platform or the application loader, which has no Netty.
 */
public final class Iso {
    private Iso() {
    }

    public static void main(String[] args) throws Exception {
        ClassLoader parent = args[0].equals("platform") ? ClassLoader.getPlatformClassLoader()
                : Iso.class.getClassLoader();
        List<URL> urls = new ArrayList<>();
        for (String part : args[1].split(File.pathSeparator)) {
            urls.add(new File(part).toURI().toURL());
        }
        String[] rest = new String[args.length - 2];
        System.arraycopy(args, 2, rest, 0, rest.length);
        try (URLClassLoader loader = new URLClassLoader(urls.toArray(new URL[0]), parent)) {
            Thread.currentThread().setContextClassLoader(loader);
            Class<?> w = Class.forName("com.app.Probes", true, loader);
            if (w.getClassLoader() != loader) {
                throw new IllegalStateException("Probes came from " + w.getClassLoader());
            }
            Method main = w.getMethod("main", String[].class);
            main.invoke(null, (Object) rest);
        }
    }
}
