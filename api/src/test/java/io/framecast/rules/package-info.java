/// The rules of the code: format and names of sources, dependencies between packages, calls that main code
/// may not make.
///
/// [ModuleRules] checks the module whose tests run it: every module has one class `RulesTest` that extends it,
/// and nothing else calls this package. `rules/frozen.txt` lists the violations of two younger rules that are
/// still there; the list may only shrink.
@NullMarked
package io.framecast.rules;

import org.jspecify.annotations.NullMarked;
