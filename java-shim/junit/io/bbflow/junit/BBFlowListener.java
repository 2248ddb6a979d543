/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.testng.IClassListener;
import org.testng.IExecutionListener;
import org.testng.IInvokedMethod;
import org.testng.IInvokedMethodListener;
import org.testng.ITestClass;
import org.testng.ITestResult;

/**
 * TestNG: fails the test that lost Netty buffers, by name. Found by ServiceLoader, so the jar on the
 * class path is enough. A test begins with its first @BeforeMethod; buffers that @AfterMethod opens are
 * also its own. Leaks that are found later, or were opened outside of tests, fail the run at its end.
 */
public final class BBFlowListener implements IInvokedMethodListener, IClassListener, IExecutionListener {
    /** Of this thread: the test that begins, or has just ended. */
    private final ThreadLocal<Scope> test = new ThreadLocal<>();
    private final ThreadLocal<Boolean> ended = ThreadLocal.withInitial(() -> false);
    private final ThreadLocal<Object> before = new ThreadLocal<>();
    private final Map<Class<?>, Scope> classes = new ConcurrentHashMap<>();
    private final Scopes.Waiting waiting = new Scopes.Waiting();

    @Override
    public void beforeInvocation(IInvokedMethod method, ITestResult result) {
        Agent agent = Scopes.agent(false);
        if (agent == null)
            return;
        Scope scope = test.get();
        boolean begins = method.isTestMethod() || method.getTestMethod().isBeforeMethodConfiguration();
        if (begins && (scope == null || ended.get()))
            scope = begin(agent);
        if (method.isTestMethod()) {
            Object[] of = result.getParameters();
            String which = of.length == 0 ? "" : " [" + (result.getMethod().getCurrentInvocationCount() + 1) + "]";
            Scopes.named(scope, result.getTestClass().getName() + "." + result.getMethod().getMethodName() + "()" + which);
            scope.limit(limitOf(result));
        }
        boolean own = begins || method.getTestMethod().isAfterMethodConfiguration() && scope != null;
        before.set(agent.enter(own ? scope.number : ofClass(agent, result).number));
    }

    private Scope begin(Agent agent) {
        Scope scope = new Scope(agent, "test");
        scope.leave();
        agent.testBegins(scope.number);
        test.set(scope);
        ended.set(false);
        return scope;
    }

    private Scope ofClass(Agent agent, ITestResult result) {
        Class<?> type = result.getTestClass().getRealClass();
        return classes.computeIfAbsent(type, key -> {
            Scope scope = new Scope(agent, type.getName());
            scope.leave();
            agent.classBegins(scope.number);
            return scope;
        });
    }

    private static BufferLimit limitOf(ITestResult result) {
        BufferLimit limit = result.getMethod().getConstructorOrMethod().getMethod().getAnnotation(BufferLimit.class);
        return limit != null ? limit : result.getTestClass().getRealClass().getAnnotation(BufferLimit.class);
    }

    @Override
    public void afterInvocation(IInvokedMethod method, ITestResult result) {
        Agent agent = Scopes.agent(false);
        if (agent == null)
            return;
        agent.leave(before.get());
        before.remove();
        Scope scope = test.get();
        if (!method.isTestMethod() || scope == null || ended.get())
            return;
        ended.set(true);
        agent.testEnds();
        String text = scope.verdict();
        if (text != null && result.getStatus() == ITestResult.SUCCESS) {
            result.setStatus(ITestResult.FAILURE);
            result.setThrowable(new BufferLeakError(text));
        } else if (text != null && result.getThrowable() != null) {
            result.getThrowable().addSuppressed(new BufferLeakError(text));
        }
        waiting.add(scope); // its @AfterMethod is still to come
    }

    @Override
    public void onAfterClass(ITestClass testClass) {
        Agent agent = Scopes.agent(false);
        if (agent != null && classes.containsKey(testClass.getRealClass()))
            agent.classEnds();
    }

    @Override
    public void onExecutionFinish() {
        Agent agent = Scopes.agent(false);
        if (agent == null)
            return;
        List<String> texts = new ArrayList<>();
        agent.report(0, true); // a collection
        texts.addAll(waiting.settle(agent, null));
        for (Scope scope : classes.values())
            add(texts, Scopes.unattributed(agent, scope.number, "class " + scope.name));
        add(texts, Scopes.unattributed(agent, 0, "the run"));
        Scopes.fail(agent, texts);
    }

    private static void add(List<String> texts, String text) {
        if (text != null)
            texts.add(text);
    }
}
