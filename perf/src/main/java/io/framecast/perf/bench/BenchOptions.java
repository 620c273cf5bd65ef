package io.framecast.perf.bench;

/// Options of a bench that measures systems beside one another.
interface BenchOptions {
    /// The plan before namespaces are tried.
    ///
    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    BenchPlan untried();

    /// The plan for this machine.
    ///
    /// @throws io.framecast.api.error.ConfigException naming option, expectation and value
    BenchPlan plan();
}
