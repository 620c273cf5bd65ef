package io.framecast.rules;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks the sources and main classes of the module whose tests run it. The enforcer holds modules to their
/// dependencies; these rules hold packages to theirs.
public abstract class ModuleRules {
    private static final int PACKAGE_TYPES_MAX = 30;
    private static final Set<String> LARGE_PACKAGES =
            Set.of("io.framecast.api", "io.framecast.reliability.wire", "io.framecast.rdma.verbs");
    private static final String FROZEN = "/rules/frozen.txt";

    // Programs choose implementations, and write to a terminal.
    private static final Set<String> PROGRAMS = Set.of("samples", "perf");

    // What replays from a seed.
    private static final Set<String> PROTOCOL = Set.of("reliability", "simulator");

    private static final JavaClasses CLASSES = new ClassFileImporter().importPath(Repository.classes());

    /// The one class per native neighbour that turns addresses into memory; everybody else takes segments
    /// from it.
    private static final Set<String> REINTERPRETERS = Set.of(
            "io.framecast.engine.memory.SegmentViews",
            "io.framecast.engine.libc.Libc",
            "io.framecast.engine.aeron.TermViews",
            "io.framecast.engine.memory.SharedWords",
            "io.framecast.rdma.verbs.Verbs",
            "io.framecast.gpu.cuda.CudaBackend",
            "io.framecast.gpu.emulated.HostMemory",
            "io.framecast.gpu.emulated.SharedMemory");

    /// Those that read files of /proc and /sys, and those whose files a user names or a program of ours wrote.
    /// Every other class reads through `PseudoFiles`: a path may come as an argument, so the call alone shows
    /// nothing.
    private static final Set<String> FILE_READERS = Set.of(
            "io.framecast.api.provider.PseudoFiles",
            "io.framecast.engine.crypto.KeyFile",
            "io.framecast.samples.input.Container",
            "io.framecast.samples.tool.Main",
            "io.framecast.perf.kit.KitCommand",
            "io.framecast.perf.kit.KitResults");

    private static final Set<String> FILES_READS =
            Set.of("readString", "readAllLines", "readAllBytes", "lines", "newBufferedReader", "newInputStream");
    private static final Set<String> STREAMS_OF_FILES =
            Set.of("java.io.FileInputStream", "java.io.FileReader", "java.io.RandomAccessFile", "java.util.Scanner");

    @Test
    void shouldReadTheClassesOfTheModule() {
        assertTrue(CLASSES.size() > 0, "no class was read: is ArchUnit too old for this JDK?");
    }

    @Test
    void shouldKeepToLengthsAndNames() {
        final List<String> complaints = JavaStyle.complaints(Repository.javaSources().stream()
                .map(path ->
                        new JavaStyle.Source(Repository.ROOT.relativize(path).toString(), Repository.read(path)))
                .toList());
        assertTrue(complaints.isEmpty(), () -> "\n" + String.join("\n", complaints) + "\n");
    }

    @Test
    void shouldCallNothingForbidden() throws Exception {
        final String module = Repository.MODULE.getFileName().toString();
        final List<String> signatures = new ArrayList<>(List.of("everywhere"));
        if (!PROGRAMS.contains(module)) {
            signatures.add("libraries");
        }
        if (PROTOCOL.contains(module)) {
            signatures.add("protocol");
        }
        final List<String> complaints =
                ForbiddenApis.complaints(Repository.classes(), true, signatures.toArray(String[]::new));
        assertTrue(complaints.isEmpty(), () -> "\n" + String.join("\n", complaints) + "\n");
    }

    @Test
    void shouldKeepPackagesSmall() {
        final List<String> large = new ArrayList<>();
        byPackage().forEach((name, types) -> {
            final long count = types.stream()
                    .filter(type ->
                            type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                    .count();
            if (count > PACKAGE_TYPES_MAX && !LARGE_PACKAGES.contains(name)) {
                large.add("types " + name + " " + count);
            }
        });
        // A frozen package may have as many types as its line says, and no more.
        final Map<String, Integer> frozen = new HashMap<>();
        frozen("types ").forEach(line -> {
            final String[] words = line.split(" ", -1);
            frozen.put(words[1], Integer.parseInt(words[2]));
        });
        large.removeIf(line -> {
            final String[] words = line.split(" ", -1);
            return Integer.parseInt(words[2]) <= frozen.getOrDefault(words[1], 0);
        });
        assertEquals(List.of(), large, "packages of more than " + PACKAGE_TYPES_MAX + " types; see " + FROZEN);
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages() {
        final Map<String, Set<String>> reached = new TreeMap<>();
        byPackage().forEach((name, types) -> {
            final Set<String> others = new TreeSet<>();
            types.forEach(type -> type.getDirectDependenciesFromSelf()
                    .forEach(
                            dependency -> others.add(dependency.getTargetClass().getPackageName())));
            reached.put(name, others);
        });
        boolean grew = true;
        while (grew) {
            grew = false;
            for (final Set<String> others : reached.values()) {
                for (final String other : List.copyOf(others)) {
                    grew |= others.addAll(reached.getOrDefault(other, Set.of()));
                }
            }
        }
        final List<String> cycles = new ArrayList<>();
        reached.forEach((name, others) -> others.stream()
                .filter(other -> name.compareTo(other) < 0
                        && reached.getOrDefault(other, Set.of()).contains(name))
                .forEach(other -> cycles.add("cycle " + name + " " + other)));
        cycles.removeAll(frozen("cycle "));
        assertEquals(List.of(), cycles, "packages that depend on each other; see " + FROZEN);
    }

    @Test
    void shouldShrinkListsOfWhatIsToGo() {
        final Map<String, String> sources = sources();
        final List<String> frozen =
                sources.keySet().stream().anyMatch(path -> path.startsWith("engine/")) ? frozen("") : List.of();
        assertEquals(
                List.of(),
                ShrinkingLists.differences(sources, frozen),
                "lines that grew, or fell and are to be written down in " + FROZEN);
    }

    @Test
    void shouldKeepClassesAndConstructorsSmall() {
        assertEquals(
                List.of(),
                CodeSizes.differences(sources(), frozen("")),
                "classes of more code, fields or longer constructors than a reader takes in at once; see " + FROZEN);
    }

    private static Map<String, String> sources() {
        final Map<String, String> sources = new HashMap<>();
        Repository.javaSources()
                .forEach(path -> sources.put(Repository.ROOT.relativize(path).toString(), Repository.read(path)));
        return sources;
    }

    private static Map<String, List<JavaClass>> byPackage() {
        final Map<String, List<JavaClass>> packages = new TreeMap<>();
        CLASSES.forEach(type -> packages.computeIfAbsent(type.getPackageName(), _ -> new ArrayList<>())
                .add(type));
        return packages;
    }

    private static List<String> frozen(final String start) {
        try (InputStream stream = Objects.requireNonNull(ModuleRules.class.getResourceAsStream(FROZEN))) {
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith(start))
                    .toList();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
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
                        // Ciphers and hashes; randomness comes in as an argument.
                        "java.math",
                        "java.security..",
                        "javax.crypto..",
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
    void shouldCallTheCLibraryByOneBindingOnly() {
        check(
                noClasses()
                        .that()
                        .resideInAnyPackage("io.framecast.engine..", "io.framecast.perf..")
                        .and()
                        .resideOutsideOfPackage("io.framecast.engine.libc")
                        .should()
                        .dependOnClassesThat()
                        .areAssignableTo(Linker.class),
                "engine.libc holds every call of the C library once");
    }

    @Test
    void shouldWrapRawAddressesInBridgesOnly() {
        check(
                noClasses()
                        .that(DescribedPredicate.describe(
                                "are no bridge to native memory", type -> !REINTERPRETERS.contains(type.getName())))
                        .should()
                        .callConstructor("org.agrona.concurrent.UnsafeBuffer", "long", "int"),
                "Agrona's buffers outlive arenas silently");
    }

    @Test
    void shouldReadFilesOfTheKernelByOneClass() {
        check(
                readsNoFile(),
                "Files.readString and others may get one byte of a file of /proc: read it by PseudoFiles, or add the"
                        + " class to FILE_READERS if it reads other files");
    }

    // Repository reads sources by Files.readString.
    @Test
    void shouldFindAClassThatReadsAFile() {
        final JavaClasses reader = new ClassFileImporter().importClasses(Repository.class);
        assertThrows(AssertionError.class, () -> readsNoFile().check(reader));
    }

    private static ArchRule readsNoFile() {
        return noClasses()
                .that(DescribedPredicate.describe(
                        "are no readers of files", type -> !FILE_READERS.contains(outermost(type))))
                .should()
                .accessTargetWhere(DescribedPredicate.describe("a call that reads a file", ModuleRules::readsFile));
    }

    private static boolean readsFile(final JavaAccess<?> access) {
        final JavaClass owner = access.getTargetOwner();
        return owner.isEquivalentTo(Files.class)
                ? FILES_READS.contains(access.getName())
                : STREAMS_OF_FILES.contains(owner.getName()) && access.getName().equals("<init>");
    }

    private static String outermost(final JavaClass type) {
        return type.getEnclosingClass().map(ModuleRules::outermost).orElse(type.getName());
    }

    @Test
    void shouldFailWhenARuleIsBroken() {
        final ArchRule rule = onlyDependsOn("io.framecast..", "java.util.concurrent.atomic..");
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
    private static DescribedPredicate<JavaClass> resideInAnyOf(final String... packages) {
        DescribedPredicate<JavaClass> any = resideInAPackage("");
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
