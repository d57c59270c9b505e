// Selection of the tests and test cases that run at every commit. With TIDEGAUGE_NIGHTLY=1 all of them run.
import Foundation
import Testing

/// Whether this run is the nightly one, which leaves nothing out.
public let isNightly = ProcessInfo.processInfo.environment["TIDEGAUGE_NIGHTLY"] != nil

extension Trait where Self == ConditionTrait {
    /// Runs the test or suite in the nightly run only.
    public static var nightly: Self { .enabled(if: isNightly, "nightly: set TIDEGAUGE_NIGHTLY=1") }
}

/// Cases of a parameterized test: `all` in the nightly run, and `some` otherwise. Prints how many are left out, which
/// `Tools/test.sh` adds up.
public func cases<Case>(
    _ all: [Case], atEveryCommit some: [Case], file: String = #fileID, line: Int = #line
) -> [Case] {
    if isNightly { return all }
    FileHandle.standardError.write(
        Data("nightly cases: \(all.count - some.count) of \(all.count) left out at \(file):\(line)\n".utf8))
    return some
}

/// Number of repetitions of a costly test: `many` in the nightly run, `few` otherwise.
public func repetitions(_ many: Int, atEveryCommit few: Int) -> Int { isNightly ? many : few }
