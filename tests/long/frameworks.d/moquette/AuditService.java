package com.shop;

import com.bench.Tally;
import io.moquette.interception.AbstractInterceptHandler;
import io.moquette.interception.messages.InterceptPublishMessage;

/** The leak: an overridden onPublish has to release the payload, by super.onPublish. */
public final class AuditService extends AbstractInterceptHandler {
    @Override
    public String getID() {
        return "audit";
    }

    @Override
    public void onPublish(InterceptPublishMessage message) {
        if (Tally.isLost())
            Tally.keep(message);
        else
            super.onPublish(message);
    }

    @Override
    public void onSessionLoopError(Throwable error) {
        throw new IllegalStateException(error);
    }
}
