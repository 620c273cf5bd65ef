package io.framecast.rdma.verbs;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIf;

/// Skips a class of tests as a whole, with what would prepare and clean up, where no stand-in can be compiled. An
/// assumption in a preparing method would leave the cleaning one to fail.
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIf(value = "io.framecast.rdma.verbs.CCompiler#isPresent", disabledReason = "no gcc on this machine")
public @interface NeedsGcc {}
