package io.framecast.samples.options;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The bounds of an option's number, or of each number of its list.
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface Within {
    double least() default 0;

    double most();

    /// Only whole multiples of it are taken.
    int multipleOf() default 1;
}
