/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.DynamicTestInvocationContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * JUnit 5: fails the test that lost Netty buffers, by name. @ExtendWith(BBFlowExtension.class), or for
 * all tests -Djunit.jupiter.extensions.autodetection.enabled=true. Needs JUnit 5.8, and the agent in
 * the JVM; without it a note says so once, and with the parameter or property bbflow.required=true
 * tests fail.
 *
 * The verdict of a test is when its store is closed: after @AfterEach and all other extensions.
 */
public final class BBFlowExtension implements BeforeAllCallback, BeforeEachCallback, InvocationInterceptor {
    private static final ExtensionContext.Namespace OURS = ExtensionContext.Namespace.create(BBFlowExtension.class);

    /** A test whose instance is made, before its own context is there. */
    private static final ThreadLocal<Pending> pending = new ThreadLocal<>();

    // ---- what JUnit closes; both interfaces, because it knows but one of them, by its version ----

    private static final class OfRun implements ExtensionContext.Store.CloseableResource, AutoCloseable {
        final Agent agent;
        final Scopes.Waiting waiting = new Scopes.Waiting();

        OfRun(Agent agent) {
            this.agent = agent;
        }

        @Override
        public void close() {
            List<String> texts = waiting.settle(agent, null);
            String text = Scopes.unattributed(agent, 0, "the run");
            if (text != null)
                texts.add(text);
            Scopes.fail(agent, texts);
        }
    }

    private static final class OfClass implements ExtensionContext.Store.CloseableResource, AutoCloseable {
        final OfRun run;
        final Scope scope;
        final boolean top;
        final Scopes.Waiting waiting = new Scopes.Waiting();

        OfClass(OfRun run, Class<?> type) {
            this.run = run;
            top = type.getEnclosingClass() == null || Modifier.isStatic(type.getModifiers());
            scope = new Scope(run.agent, type.getName());
            Scopes.named(scope, type.getName());
            if (top)
                run.agent.classBegins(scope.number);
        }

        @Override
        public void close() {
            scope.leave();
            if (top)
                run.agent.classEnds();
            if (scope.isOpen()) {
                run.agent.report(scope.number, true); // a collection
                run.waiting.add(scope);
            }
            List<String> texts = waiting.settle(run.agent, run.waiting);
            String text = Scopes.unattributed(run.agent, scope.number, "class " + scope.name);
            if (text != null)
                texts.add(text);
            scope.tell();
            Scopes.fail(run.agent, texts);
        }
    }

    private static final class OfTest implements ExtensionContext.Store.CloseableResource, AutoCloseable {
        final OfClass of;
        final Scope scope;

        OfTest(OfClass of, Scope scope) {
            this.of = of;
            this.scope = scope;
        }

        @Override
        public void close() {
            scope.leave();
            try {
                judge(of, scope);
            } finally {
                of.run.agent.testEnds();
            }
        }
    }

    private static void judge(OfClass of, Scope scope) {
        List<String> texts = new ArrayList<>();
        String text = scope.verdict();
        if (text != null)
            texts.add(text);
        if (scope.isOpen())
            of.waiting.add(scope);
        Scopes.fail(of.run.agent, texts);
    }

    private static final class Pending {
        final Class<?> type;
        final Scope scope;

        Pending(Class<?> type, Scope scope) {
            this.type = type;
            this.scope = scope;
        }
    }

    // ---- where they are kept ----

    private static boolean isRequired(ExtensionContext context) {
        return context.getConfigurationParameter("bbflow.required").map(Boolean::parseBoolean).orElse(false);
    }

    /** Null: no agent. */
    private static OfRun run(ExtensionContext context) {
        Agent agent = Scopes.agent(isRequired(context));
        return agent == null ? null : context.getRoot().getStore(OURS)
                .getOrComputeIfAbsent(OfRun.class, key -> new OfRun(agent), OfRun.class);
    }

    /** That of the nearest class. Each class has one of its own, also a nested one. */
    private static OfClass ofClass(ExtensionContext context) {
        OfRun run = run(context);
        Class<?> type = context.getTestClass().orElse(null);
        ExtensionContext at = context;
        while (at.getTestMethod().isPresent() || !at.getElement().isPresent())
            at = at.getParent().get();
        return run == null || type == null ? null : at.getStore(OURS)
                .getOrComputeIfAbsent(type, key -> new OfClass(run, type), OfClass.class);
    }

    private static OfTest ofTest(ExtensionContext context) {
        return context.getStore(OURS).get(OfTest.class, OfTest.class);
    }

    // ---- classes and tests begin ----

    @Override
    public void beforeAll(ExtensionContext context) {
        ofClass(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        OfClass of = ofClass(context);
        if (of == null || ofTest(context) != null)
            return;
        Pending made = pending.get();
        pending.remove();
        if (made != null && made.type != context.getRequiredTestClass()) {
            abandon(made, of.run.agent);
            made = null;
        }
        Scope scope = made != null ? made.scope : begin(of.run.agent);
        Scopes.named(scope, nameOf(context));
        scope.limit(limitOf(context));
        context.getStore(OURS).put(OfTest.class, new OfTest(of, scope));
    }

    private static Scope begin(Agent agent) {
        Scope scope = new Scope(agent, "test");
        agent.testBegins(scope.number);
        return scope;
    }

    private static void abandon(Pending made, Agent agent) {
        made.scope.leave();
        agent.testEnds();
    }

    /** "com.app.OrderTest.pays()", with the display name of one of many. */
    private static String nameOf(ExtensionContext context) {
        Method method = context.getRequiredTestMethod();
        String display = context.getDisplayName();
        String name = context.getRequiredTestClass().getName() + "." + method.getName();
        return display.startsWith(method.getName() + "(") ? name + "()" : name + "() " + display;
    }

    private static BufferLimit limitOf(ExtensionContext context) {
        BufferLimit limit = of(context.getRequiredTestMethod());
        for (Class<?> type = context.getRequiredTestClass(); limit == null && type != null; type = type.getEnclosingClass())
            limit = of(type);
        return limit;
    }

    private static BufferLimit of(AnnotatedElement element) {
        return element.getAnnotation(BufferLimit.class);
    }

    // ---- whatever thread runs it ----

    /** An instance of its own is part of the test, one for all tests is part of the class. */
    @Override
    public <T> T interceptTestClassConstructor(Invocation<T> invocation,
            ReflectiveInvocationContext<Constructor<T>> construction, ExtensionContext context) throws Throwable {
        OfClass of = ofClass(context);
        if (of == null || context.getTestInstanceLifecycle().orElse(Lifecycle.PER_METHOD) == Lifecycle.PER_CLASS)
            return within(of == null ? null : of.scope, invocation);
        Class<?> type = construction.getTargetClass();
        Pending outer = pending.get();
        boolean same = outer != null && (outer.type == type
                || outer.type == type.getEnclosingClass() && !Modifier.isStatic(type.getModifiers()));
        if (outer != null && !same)
            abandon(outer, of.run.agent);
        Scope scope = same ? outer.scope : begin(of.run.agent);
        pending.set(new Pending(type, scope));
        try {
            return invocation.proceed();
        } catch (Throwable failed) {
            abandon(pending.get(), of.run.agent);
            pending.remove();
            throw failed;
        }
    }

    private static <T> T within(Scope scope, Invocation<T> invocation) throws Throwable {
        if (scope == null)
            return invocation.proceed();
        Object before = scope.agent.enter(scope.number);
        try {
            return invocation.proceed();
        } finally {
            scope.agent.leave(before);
        }
    }

    private static <T> T inClass(Invocation<T> invocation, ExtensionContext context) throws Throwable {
        OfClass of = ofClass(context);
        return within(of == null ? null : of.scope, invocation);
    }

    private static <T> T inTest(Invocation<T> invocation, ExtensionContext context) throws Throwable {
        OfTest of = ofTest(context);
        return within(of == null ? null : of.scope, invocation);
    }

    @Override
    public void interceptBeforeAllMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        inClass(invocation, context);
    }

    @Override
    public void interceptAfterAllMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        inClass(invocation, context);
    }

    @Override
    public void interceptBeforeEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        inTest(invocation, context);
    }

    @Override
    public void interceptAfterEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        inTest(invocation, context);
    }

    @Override
    public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        inTest(invocation, context);
    }

    @Override
    public void interceptTestTemplateMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        inTest(invocation, context);
    }

    @Override
    public <T> T interceptTestFactoryMethod(Invocation<T> invocation, ReflectiveInvocationContext<Method> method,
            ExtensionContext context) throws Throwable {
        return inTest(invocation, context);
    }

    /** Each dynamic test is one of its own, within its factory's. */
    @Override
    public void interceptDynamicTest(Invocation<Void> invocation, DynamicTestInvocationContext dynamic,
            ExtensionContext context) throws Throwable {
        OfTest factory = ofTest(context);
        if (factory == null) {
            invocation.proceed();
            return;
        }
        Agent agent = factory.of.run.agent;
        Scope scope = new Scope(agent, "test");
        Scopes.named(scope, factory.scope.name + " " + context.getDisplayName());
        scope.maxOpen = factory.scope.maxOpen;
        scope.maxLeaked = factory.scope.maxLeaked;
        agent.testGoesOn(factory.scope.number, scope.number);
        Throwable failed = null;
        try {
            invocation.proceed();
        } catch (Throwable t) {
            failed = t;
        }
        scope.leave();
        agent.testGoesOn(scope.number, factory.scope.number);
        try {
            judge(factory.of, scope);
        } catch (BufferLeakError leak) {
            if (failed == null)
                throw leak;
            failed.addSuppressed(leak);
        }
        if (failed != null)
            throw failed;
    }
}
