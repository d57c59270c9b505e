// The invariants, and the verdict: the number of checks per invariant and the first violation.
//
// The lock of the verdict guards `first`. The counts are atomic.
import StillingWell
import StillingWellSync
import Synchronization

enum Invariant: Int, CaseIterable, Sendable {
    case i1, i2, i3, i4, i5, i6, i7, i8, i9, i10
    case holdings, forks
    case stall
    case noError
    case pause
    case coverage

    /// Index of the invariant's counter.
    var ordinal: Int { rawValue }

    var name: String {
        switch self {
        case .holdings: "holdings"
        case .forks: "forks"
        case .stall: "stall"
        case .noError: "no error"
        case .pause: "pause"
        case .coverage: "coverage"
        default: "I\(ordinal + 1)"
        }
    }

    var text: String {
        switch self {
        case .i1: "all change sets applied to the initial rows give the rows shown"
        case .i2: "a view equals its query evaluated from scratch on the connection's own snapshot"
        case .i3: "the versions an observer is called at strictly increase"
        case .i4: "nothing is called after invalidate() has returned"
        case .i5: "callbacks of a connection neither overlap nor recurse, and run on its scheduler"
        case .i6: "once all writers are at rest, every observer is at the last version"
        case .i7: "a suppressing commit never reaches the token it skips, and always reaches the others"
        case .i8:
            """
            the file stays bounded: 64 MB, 1 KB for each commit since the oldest kept version, and 40 KB for each one \
            since the oldest version kept in the file, or before a held version is moved to memory
            """
        case .i9: "upkeep reaches the last commit within the poll period and slack after a kill"
        case .i10: "all views of a connection advance together"
        case .holdings:
            "no descriptor of a run stays open, and a commit adds at most \(Limits.heapBytesPerCommit) bytes of heap"
        case .forks:
            "a forked child cannot read the inherited store, can open it again, and does not release its parent's lock"
        case .stall: "everyone shows signs of life, every \(Int(Limits.stallS)) s at least"
        case .noError: "the store throws only what its documentation says"
        case .pause: "with autorefresh off a connection stays at its version until refresh()"
        case .coverage: "a run exercises all that it is for"
        }
    }
}

struct Violation: Sendable {
    let invariant: Invariant
    let observer: String
    let detail: String
}

final class Counter: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }
    func add(_ delta: Int = 1) { count.add(delta, ordering: .relaxed) }

    func raise(to value: Int) { count.max(value, ordering: .relaxed) }
}

final class Verdict: @unchecked Sendable {
    private let lock = TracedMutex("verdict")
    private var first: Violation?
    private let violations = Counter()
    private let checks = Invariant.allCases.map { _ in Counter() }

    /// Counts a check, and reports a violation unless `holds`. May be called on any thread.
    func expect(
        _ invariant: Invariant, _ holds: Bool, _ observer: @autoclosure () -> String,
        _ detail: @autoclosure () -> String
    ) {
        checks[invariant.ordinal].add()
        if !holds { report(invariant, observer(), detail()) }
    }

    /// Counts a check, and reports a violation if there is a difference.
    func expectNone(_ invariant: Invariant, _ difference: String?, _ observer: @autoclosure () -> String) {
        checks[invariant.ordinal].add()
        if let difference { report(invariant, observer(), difference) }
    }

    func report(_ invariant: Invariant, _ observer: String, _ detail: String) {
        let violation = Violation(invariant: invariant, observer: observer, detail: detail)
        violations.add()
        lock.withLock { if first == nil { first = violation } }
    }

    var isClean: Bool { violations.value == 0 }
    var violationCount: Int { violations.value }
    var firstViolation: Violation? { lock.withLock { first } }
    func checkCount(_ invariant: Invariant) -> Int { checks[invariant.ordinal].value }
}
