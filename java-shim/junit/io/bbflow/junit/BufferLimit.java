/* SPDX-License-Identifier: Apache-2.0 */
package io.bbflow.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** What a test, or each test of a class, may leave behind. That of the method comes first. */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface BufferLimit {
    /** Buffers of the test that may be open when it ends; -1: any number. */
    long maxOpen() default -1;

    /** Buffers of the test that may be lost. */
    long maxLeaked() default 0;
}
