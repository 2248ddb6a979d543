package com.app;

import java.util.logging.Handler;
import java.util.logging.Logger;

/** Logs by java.util.logging through LTTng's own Java agent, where that is on the class path. */
final class JulLog {
    private static Logger logger;

    private JulLog() {
    }

    static void log(int n) throws ReflectiveOperationException {
        if (logger == null) {
            Handler handler = (Handler) Class.forName("org.lttng.ust.agent.jul.LttngLogHandler")
                    .getConstructor().newInstance();
            logger = Logger.getLogger("com.app.jul");
            logger.setUseParentHandlers(false);
            logger.addHandler(handler);
        }
        for (int i = 0; i < n; i++) {
            logger.warning("record " + i);
        }
    }
}
