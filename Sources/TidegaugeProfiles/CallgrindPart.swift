// One part of a callgrind profile: of one thread with `--separate-threads=yes`, else of all threads. Plain values.

public struct CallgrindPart: Sendable, Equatable {
    /// Calls from one context to another: one `calls=` line.
    public struct Call: Sendable, Equatable {
        /// Indices of caller and callee in `contexts`.
        public var caller: Int
        public var callee: Int
        public var count: Int
        /// Inclusive instructions of these calls. Can be negative if a call began before the part, because costs in
        /// earlier parts are subtracted too.
        public var instructions: Int
    }

    public var pid: Int?
    /// Thread number from 1; nil if threads were not separated.
    public var thread: Int?
    /// Part number from 1.
    public var number: Int?
    /// Reason for writing the part, such as `Program termination`.
    public var trigger: String?
    /// Function names in the profile: symbols, or C++ names demangled by valgrind.
    public var symbols: [String] = []
    /// Call chains as indices in `symbols`: the function first, then its callers as recorded by `--separate-callers`.
    /// Recursion marks (`f'2`) are removed, so a chain may occur twice.
    public var contexts: [[Int]] = []
    /// Exclusive instructions of each of `contexts`.
    public var exclusive: [Int] = []
    public var calls: [Call] = []
    /// Instructions of the part: the sum of `exclusive`.
    public var total = 0
    /// System calls; nil unless counted (`--collect-systime`).
    public var systemCalls: Int?

    /// Returns the number of calls to functions with these names, spelled as in the profile.
    public func calls(to names: Set<String>) -> Int {
        let wanted = Set(symbols.indices.filter { names.contains(symbols[$0]) })
        return calls.reduce(0) { $0 + (wanted.contains(contexts[$1.callee][0]) ? $1.count : 0) }
    }

    /// Whether callers were recorded (`--separate-callers`).
    public var hasChains: Bool { contexts.contains { $0.count > 1 } }
}
