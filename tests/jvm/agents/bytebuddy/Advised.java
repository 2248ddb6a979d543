package com.agents;

import static net.bytebuddy.matcher.ElementMatchers.any;
import static net.bytebuddy.matcher.ElementMatchers.hasSuperType;
import static net.bytebuddy.matcher.ElementMatchers.isAbstract;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.namedOneOf;
import static net.bytebuddy.matcher.ElementMatchers.none;
import static net.bytebuddy.matcher.ElementMatchers.not;
import static net.bytebuddy.matcher.ElementMatchers.takesArguments;

import com.app.BetweenPhases;
import java.lang.instrument.Instrumentation;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.agent.builder.ResettableClassFileTransformer;
import net.bytebuddy.asm.Advice;
import net.bytebuddy.description.type.TypeDescription;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.implementation.bind.annotation.RuntimeType;
import net.bytebuddy.implementation.bind.annotation.SuperCall;
import net.bytebuddy.utility.JavaModule;

/**
 * ByteBuddy's AgentBuilder over everything that is a ReferenceCounted, by -javaagent=MODE:
 * load         Advice and a delegated method, as the classes are loaded (new methods, new fields)
 * retransform  Advice on the loaded classes after the first phase, taken off after the second
 * redefine     the same by redefinition
 */
public final class Advised implements BetweenPhases {
    /** Calls by "Class.method", as the advice and the delegation counted them. */
    private static final Map<String, Integer> CALLS = new TreeMap<>();
    private static final Set<String> ERRORS = new TreeSet<>();
    private static Instrumentation jvm;
    private static String mode;
    private static ResettableClassFileTransformer installed;

    public static void premain(String options, Instrumentation instrumentation) {
        jvm = instrumentation;
        mode = options;
        if (mode.equals("load")) {
            installed = builder(AgentBuilder.RedefinitionStrategy.DISABLED)
                    .type(hasSuperType(named("io.netty.util.ReferenceCounted")))
                    .transform((b, type, loader, module, domain) -> advice(b)
                            .method(named("toString").and(takesArguments(0)))
                            .intercept(MethodDelegation.to(Delegate.class)))
                    .installOn(jvm);
        }
    }

    public static synchronized void count(String what) {
        CALLS.merge(what, 1, Integer::sum);
    }

    /** Inlined into Netty's methods. */
    public static final class Count {
        private Count() {
        }

        @Advice.OnMethodEnter
        static void enter(@Advice.Origin("#t.#m") String method) {
            Advised.count(method);
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Origin("#t.#m ends") String method,
                @Advice.Thrown Throwable thrown) {
            Advised.count(thrown == null ? method : "thrown");
        }
    }

    /** toString() is answered by a call of the original through a generated method. */
    public static final class Delegate {
        private Delegate() {
        }

        @RuntimeType
        public static Object call(@SuperCall Callable<?> original) throws Exception {
            count("toString delegated");
            return original.call();
        }
    }

    private static DynamicType.Builder<?> advice(DynamicType.Builder<?> builder) {
        return builder.visit(Advice.to(Count.class).on(namedOneOf("retain", "release", "touch",
                "deallocate", "setByte", "writeInt").and(not(isAbstract()))));
    }

    private static AgentBuilder builder(AgentBuilder.RedefinitionStrategy strategy) {
        return new AgentBuilder.Default().with(strategy).with(new Errors())
                .ignore(none()).ignore(any(), net.bytebuddy.matcher.ElementMatchers
                .isBootstrapClassLoader());
    }

    private static final class Errors extends AgentBuilder.Listener.Adapter {
        @Override
        public void onError(String type, ClassLoader loader, JavaModule module, boolean loaded,
                Throwable error) {
            ERRORS.add(type + ": " + error);
        }
    }

    /** What the redefinition of loaded classes could not do. */
    private static final class Refused implements AgentBuilder.RedefinitionStrategy.Listener {
        @Override
        public void onBatch(int index, java.util.List<Class<?>> batch,
                java.util.List<Class<?>> types) {
            count("batches");
        }

        @Override
        public Iterable<? extends java.util.List<Class<?>>> onError(int index,
                java.util.List<Class<?>> batch, Throwable error, java.util.List<Class<?>> types) {
            ERRORS.add("batch " + batch.size() + ": " + error);
            return java.util.Collections.emptyList();
        }

        @Override
        public void onComplete(int amount, java.util.List<Class<?>> types,
                Map<java.util.List<Class<?>>, Throwable> failures) {
            for (Class<?> type : types) {
                count("changed " + TypeDescription.ForLoadedType.of(type).getSimpleName());
            }
        }
    }

    @Override
    public void after(int phase) {
        if (!mode.equals("load") && phase == 1) {
            AgentBuilder.RedefinitionStrategy strategy = strategy();
            installed = builder(strategy).disableClassFormatChanges().with(strategy)
                    .with(new Refused())
                    .type(hasSuperType(named("io.netty.util.ReferenceCounted")))
                    .transform((b, type, loader, module, domain) -> advice(b)).installOn(jvm);
        } else if (phase == 2) {
            if (mode.equals("load")) {
                io.netty.buffer.Unpooled.EMPTY_BUFFER.toString();
                io.netty.buffer.Unpooled.LITTLE_ENDIAN.toString();
            }
            System.out.println("THEIRS reset " + installed.reset(jvm, strategy()));
        } else if (phase == 3) {
            synchronized (Advised.class) {
                System.out.println("THEIRS " + mode + " " + CALLS + " errors " + ERRORS);
            }
        }
    }

    private static AgentBuilder.RedefinitionStrategy strategy() {
        return mode.equals("redefine") ? AgentBuilder.RedefinitionStrategy.REDEFINITION
                : AgentBuilder.RedefinitionStrategy.RETRANSFORMATION;
    }
}
