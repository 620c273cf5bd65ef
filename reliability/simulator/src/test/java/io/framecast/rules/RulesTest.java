package io.framecast.rules;

/// The rules of the code, on this module.
final class RulesTest extends ModuleRules {}
