package io.framecast.samples.options;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/// The words that an option takes, or that its list may have.
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.FIELD)
public @interface OneOf {
    /// Regular expressions: a plain word is one too.
    String[] value();

    /// The words for people; empty where they are those of [#value].
    String expected() default "";

    /// Whether [Words#NONE] may stand in place of the list.
    boolean orNone() default false;
}
