// A recorded trace: due times of commits in seconds from the start of the warm-up, one per line, or a recorded
// workload (`TraceReader`). Lines that start with `#` are comments. Pure.
import TidegaugeSpec

/// Content of a trace.
struct Trace: Sendable {
    static let maximumBytes = 1 << 24
    static let maximumCommits = 1_000_000

    /// Due times of commits in ns from the start of the warm-up, ascending.
    var dueNs: [Int64] = []
    /// The last time in the trace.
    var endNs: Int64 = 0
    /// Operations of each commit and observed queries; nil if the trace has only times.
    var workload: WorkloadSpec?

    init(dueNs: [Int64] = [], endNs: Int64 = 0, workload: WorkloadSpec? = nil) {
        (self.dueNs, self.endNs, self.workload) = (dueNs, endNs, workload)
    }

    /// - Throws: the first problem, as the end of a sentence that starts with the file's name.
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
