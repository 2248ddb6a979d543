/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

import java.util.ArrayList;
import java.util.List;
import org.junit.rules.TestRule;
import org.junit.runner.Description;
import org.junit.runners.model.MultipleFailureException;
import org.junit.runners.model.Statement;

/**
 * JUnit 4: fails the test that lost Netty buffers, by name.
 *
 *     &#64;ClassRule public static final BBFlowRule BUFFERS = new BBFlowRule();
 *     &#64;Rule public final BBFlowRule buffers = BUFFERS;
 *
 * The rule of the class reports what is found after a test, and what was opened outside of tests.
 */
public final class BBFlowRule implements TestRule {
    private final Scopes.Waiting waiting = new Scopes.Waiting();

    @Override
    public Statement apply(Statement base, Description description) {
        return new Statement() {
            @Override
            public void evaluate() throws Throwable {
                Agent agent = Scopes.agent(false);
                if (agent == null)
                    base.evaluate();
                else
                    run(agent, base, description);
            }
        };
    }

    private void run(Agent agent, Statement base, Description description) throws Throwable {
        boolean test = description.isTest();
        Scope scope = new Scope(agent, "");
        Scopes.named(scope, description.getClassName() + (test ? "." + description.getMethodName() + "()" : ""));
        scope.limit(description.getAnnotation(BufferLimit.class));
        if (test)
            agent.testBegins(scope.number);
        else
            agent.classBegins(scope.number);
        List<Throwable> failed = new ArrayList<>();
        try {
            base.evaluate();
        } catch (Throwable t) {
            failed.add(t);
        }
        scope.leave();
        try {
            if (test)
                testEnds(agent, scope);
            else
                classEnds(agent, scope);
        } catch (BufferLeakError leak) {
            failed.add(leak);
        }
        MultipleFailureException.assertEmpty(failed);
    }

    private void testEnds(Agent agent, Scope scope) {
        List<String> texts = new ArrayList<>();
        try {
            String text = scope.verdict();
            if (text != null)
                texts.add(text);
            if (scope.isOpen())
                waiting.add(scope);
        } finally {
            agent.testEnds();
        }
        Scopes.fail(agent, texts);
    }

    private void classEnds(Agent agent, Scope scope) {
        agent.classEnds();
        if (scope.isOpen())
            agent.report(scope.number, true); // a collection
        List<String> texts = waiting.settle(agent, null);
        String text = Scopes.unattributed(agent, scope.number, "class " + scope.name);
        if (text != null)
            texts.add(text);
        Scopes.fail(agent, texts);
    }
}
