/// The corpora that the fuzz tests of all modules share, and the limits that every input keeps.
///
/// A fuzz test is a class `…FuzzTest` with a method `public static void fuzzerTestOneInput(byte[])`, which Jazzer calls
/// (docs/fuzzing.md). The build calls it for each input of the corpus, without Jazzer.
@NullMarked
package io.framecast.fuzz;

import org.jspecify.annotations.NullMarked;
