// SPDX-License-Identifier: Apache-2.0
package io.bbflow.handlers;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** In class MetricHandler of a copy without a registry: the handlers that bbflow made. */
final class Anchor extends ClassValue<List<Object>> {
    static final Anchor THIS = new Anchor();

    @Override
    protected List<Object> computeValue(Class<?> type) {
        return new CopyOnWriteArrayList<Object>();
    }
}
