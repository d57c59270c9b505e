// One part of a profile as callgrind wrote it: of one thread with `--separate-threads=yes`, else of all. Plain values.

public struct CallgrindPart: Sendable, Equatable {
    /// All calls from one place.
    public struct Call: Sendable, Equatable {
        /// Contexts.
        public var caller: Int
        public var callee: Int
        public var count: Int
        /// Instructions from call to return, of all of them together. Under zero where one began before the part did: what
        /// earlier parts have of it is taken off all the same.
        public var instructions: Int
    }

    public var pid: Int?
    /// From 1; nil where threads are not kept apart.
    public var thread: Int?
    /// From 1: a process writes another part whenever it is asked to.
    public var number: Int?
    /// Why the part was written, such as `Program termination`.
    public var trigger: String?
    /// Names of functions as the profile has them: symbols, or what valgrind made of those of C++.
    public var symbols: [String] = []
    /// Who ran, called by whom: places in `symbols`, the function itself first, then its callers as far as
    /// `--separate-callers` keeps them. Marks of recursion (`f'2`) are left out, so that a chain may be there twice.
    public var contexts: [[Int]] = []
    /// Instructions that each of `contexts` executed itself.
    public var exclusive: [Int] = []
    public var calls: [Call] = []
    /// Instructions of the part: the sum of `exclusive`.
    public var total = 0
    /// Nil where they were not counted (`--collect-systime`).
    public var systemCalls: Int?

    /// How often functions were called, by their names as the profile has them.
    public func calls(to names: Set<String>) -> Int {
        let wanted = Set(symbols.indices.filter { names.contains(symbols[$0]) })
        return calls.reduce(0) { $0 + (wanted.contains(contexts[$1.callee][0]) ? $1.count : 0) }
    }

    /// Whether callers were kept (`--separate-callers`).
    public var hasChains: Bool { contexts.contains { $0.count > 1 } }
}
