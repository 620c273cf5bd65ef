package io.framecast.perf.rules;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Which package may know which. The enforcer holds modules to their dependencies; this holds packages to
/// theirs.
final class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .importPaths(Repository.MODULES.stream().map(Repository::classes).toList());

    /// The one class per native neighbour that turns addresses into memory; everybody else takes segments
    /// from it.
    private static final Set<String> REINTERPRETERS = Set.of(
            "io.framecast.engine.memory.SegmentViews",
            "io.framecast.engine.memory.Mappings",
            "io.framecast.engine.aeron.TermViews",
            "io.framecast.rdma.verbs.Verbs",
            "io.framecast.gpu.cuda.CudaBackend",
            "io.framecast.gpu.emulated.HostMemory",
            "io.framecast.gpu.emulated.SharedMemory");

    @Test
    void shouldReadEveryClassOfEveryModule() {
        for (final String known : List.of("api.Channel", "reliability.wire.package-info", "engine.package-info")) {
            assertTrue(
                    CLASSES.contain("io.framecast." + known),
                    known + " was not read: is ArchUnit too old for this JDK?");
        }
    }

    @Test
    void shouldKeepApiToTheJdk() {
        check(onlyDependsOn("io.framecast.api..", "io.framecast.api..", "java.."), "users take api alone");
    }

    @Test
    void shouldKeepTheProtocolToCollectionsAndMemory() {
        check(
                onlyDependsOn(
                        "io.framecast.reliability..",
                        "io.framecast.reliability..",
                        "java.lang..",
                        "java.nio",
                        "java.nio.charset",
                        "java.util..",
                        "org.agrona.."),
                "the protocol replays from a seed: it has no I/O, clock, thread or log");
    }

    @Test
    void shouldKeepNativeModulesApart() {
        check(
                onlyDependsOn("io.framecast.rdma..", "io.framecast.rdma..", "io.framecast.api..", "java.."),
                "native modules see the api only");
        check(
                onlyDependsOn("io.framecast.gpu..", "io.framecast.gpu..", "io.framecast.api..", "java..", "jcuda.."),
                "native modules see the api only");
    }

    @ParameterizedTest
    @CsvSource({
        "jcuda.., io.framecast.gpu..",
        "io.framecast.rdma.., io.framecast.rdma..",
        "io.framecast.gpu.., io.framecast.gpu..",
        "io.aeron.., io.framecast.engine.aeron..",
        "com.esotericsoftware.., io.framecast.engine.codec..",
        "io.prometheus.., io.framecast.engine.metrics..",
    })
    void shouldBeNamedByItsOwnPackageOnly(final String named, final String by) {
        // Programs choose implementations, so samples and perf may name any.
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackages(by, "io.framecast.samples..", "io.framecast.perf..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage(named),
                "only " + by + " hides it from everybody else");
    }

    @Test
    void shouldLeaveJCudaToTheGpuModuleEvenInPrograms() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackage("io.framecast.gpu..")
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage("jcuda.."),
                "its first call fails where there is no driver, and only gpu knows how");
    }

    @Test
    void shouldReinterpretInBridgesOnly() {
        check(
                noClasses()
                        .that(DescribedPredicate.describe(
                                "are no bridge to native memory", type -> !REINTERPRETERS.contains(type.getName())))
                        .should()
                        .callMethodWhere(calls(MemorySegment.class, "reinterpret")),
                "a wrong length here is a crash anywhere");
    }

    @Test
    void shouldWrapRawAddressesInBridgesOnly() {
        check(
                noClasses()
                        .that(DescribedPredicate.describe(
                                "are no bridge to native memory", type -> !REINTERPRETERS.contains(type.getName())))
                        .should()
                        .callConstructor(org.agrona.concurrent.UnsafeBuffer.class, long.class, int.class),
                "Agrona's buffers outlive arenas silently");
    }

    @Test
    void shouldFailWhenARuleIsBroken() {
        final ArchRule rule = onlyDependsOn("io.framecast.api..", "java.util..");
        assertThrows(AssertionError.class, () -> rule.check(CLASSES));
    }

    @Test
    void shouldMarkEveryPackageForTheNullCheck() {
        final List<Path> unmarked = Repository.javaSources().stream()
                .filter(path -> path.toString().contains("/src/main/"))
                .map(path -> path.resolveSibling("package-info.java"))
                .distinct()
                .filter(path -> !Files.exists(path) || !Repository.read(path).contains("@NullMarked"))
                .toList();
        assertEquals(List.of(), unmarked);
    }

    private static ArchRule onlyDependsOn(final String from, final String... packages) {
        final String[] allowed = java.util.Arrays.copyOf(packages, packages.length + 1);
        allowed[packages.length] = "org.jspecify..";
        return classes().that().resideInAPackage(from).should().onlyDependOnClassesThat(resideInAnyOf(allowed));
    }

    /// Primitives and their arrays have the empty package.
    private static DescribedPredicate<com.tngtech.archunit.core.domain.JavaClass> resideInAnyOf(
            final String... packages) {
        DescribedPredicate<com.tngtech.archunit.core.domain.JavaClass> any = resideInAPackage("");
        for (final String allowed : packages) {
            any = any.or(resideInAPackage(allowed));
        }
        return any;
    }

    private static DescribedPredicate<JavaCall<?>> calls(final Class<?> owner, final String name) {
        return DescribedPredicate.describe(
                owner.getSimpleName() + "." + name,
                call -> call.getName().equals(name) && call.getTargetOwner().isAssignableTo(owner));
    }

    private static void check(final ArchRule rule, final String reason) {
        // Modules whose content comes later hold no class yet.
        rule.allowEmptyShould(true).because(reason).check(CLASSES);
    }
}
