// Stops the program after misuse. `precondition` and `preconditionFailure` drop their text in optimised builds;
// `fatalError` keeps it.

/// Ends the process with a text on standard error, in every build configuration.
/// - Parameter text: what was wrong, where, and what to do.
@inline(never)
public func stopProgram(
    _ text: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
    fatalError(text(), file: file, line: line)
}

/// Ends the process with a text on standard error unless `condition` holds, in every build configuration.
/// - Parameter text: what was wrong, where, and what to do. Evaluated only if the process ends.
@inline(__always)
public func stopUnless(
    _ condition: @autoclosure () -> Bool, _ text: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) {
    if !condition() { stopProgram(text(), file: file, line: line) }
}
