// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

/** Class MetricHandler of a loader to its Copy. */
final class Copies extends ClassValue<Copy> {
    static final Copies THIS = new Copies();

    @Override
    protected Copy computeValue(Class<?> type) {
        try {
            return new Copy(type);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("not bbflow's API: " + e, e);
        }
    }
}
