// A trace: what somebody recorded of a load. Due times of commits in seconds from the start of the warm-up, one per line; or
// what an application did then, too (`TraceReader`). A line that starts with `#` is a comment. Pure.
import TidegaugeSpec

/// What a trace says.
struct Trace: Sendable {
    static let maximumBytes = 1 << 24
    static let maximumCommits = 1_000_000

    /// When commits are due, in ns from the start of the warm-up, ascending.
    var dueNs: [Int64] = []
    /// The last of its times.
    var endNs: Int64 = 0
    /// What each of them does, and which queries are watched; nil where it has times alone.
    var workload: WorkloadSpec?

    init(dueNs: [Int64] = [], endNs: Int64 = 0, workload: WorkloadSpec? = nil) {
        (self.dueNs, self.endNs, self.workload) = (dueNs, endNs, workload)
    }

    /// - Throws: the first line that is wrong, as half a sentence that follows the file's name.
    init(_ bytes: [UInt8]) throws(ValueFault) {
        guard bytes.count <= Self.maximumBytes else { throw ValueFault("is longer than \(Self.maximumBytes) bytes") }
        var reader = TraceReader()
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            let text = String(decoding: line, as: UTF8.self)
            try reader.read(text.hasSuffix("\r") ? text.dropLast() : text[...])
        }
        self = try reader.trace()
    }
}
