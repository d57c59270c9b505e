// Observations of a host's observers as they are sent to the trial: split into parts, on the host's clock. Pure.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// The goal that the observers of a host wait for.
struct HostGoal: Codable, Sendable {
    /// For each query, the version that its observers must cover; nil if its last commits had no net effect.
    var versions: [Int64?]
    /// The same if versions are known only after the trial: tokens of commits that the last delivery must include.
    var tokens: [[Int64]]?
}

/// The records of one observer, and the rows that it shows at the end.
struct HostObservation: Codable, Sendable, Equatable {
    private static let partBytes = 2_000_000

    /// Index of the observer in `QueryAssignment.queryOfObserver`.
    var observer: Int
    var site: Int
    var subscribedNs: Int64
    var endNs: Int64
    var callbacks: PackedArray<CallbackRecord>
    var indices: PackedArray<Int32>
    var items: PackedArray<Item>
    /// `LateVersions.shown` of all observers of the process; only the first observer has it.
    var shown: PackedArray<UInt8>?

    /// Limits on the amounts that hosts send per observer, and on the number of observers per host.
    struct Most: Sendable {
        var observers: Int
        var callbacks: Int
        var indices: Int
        var items: Int
        /// Bytes of `shown`.
        let shown = 1 << 28

        init(_ spec: TrialSpec) {
            observers = spec.observers.count
            callbacks = TrialSize.callbacks(spec)
            indices = TrialSize.indices(spec)
            // Each inserted row has an index.
            items = spec.dataset.items + indices
        }
    }

    /// Splits the observation into frames. The first byte of each payload is 1 in the last frame, otherwise 0.
    func frames() throws -> [HostFrame] {
        var rest = Array(try JSONEncoder().encode(self))[...]
        var frames: [HostFrame] = []
        repeat {
            let part = rest.prefix(Self.partBytes)
            rest = rest.dropFirst(part.count)
            frames.append(HostFrame(kind: .observed, payload: [rest.isEmpty ? 1 : 0] + part))
        } while !rest.isEmpty
        return frames
    }
}

/// Values in their memory layout, compressed. Both processes run the same binary.
struct PackedArray<Element: BitwiseCopyable & Sendable>: Codable, Sendable, Equatable {
    private let count: Int
    private let packed: Data

    init(_ elements: [Element]) {
        count = elements.count
        packed = Data(elements.withUnsafeBytes { Deflated.pack(Array($0), level: 1) })
    }

    func elements(most: Int) throws(HostFrame.Damage) -> [Element] {
        let stride = MemoryLayout<Element>.stride
        guard 0...most ~= count else {
            throw .unreadable(.observed, reason: "\(count) elements, and \(most) are the most of this trial")
        }
        let bytes: [UInt8]
        do {
            bytes = try Deflated.unpack(packed, mostBytes: count * stride)
        } catch {
            throw .unreadable(.observed, reason: error.description)
        }
        guard bytes.count == count * stride else {
            throw .unreadable(.observed, reason: "\(bytes.count) bytes of \(count) elements")
        }
        // The initializer below writes to the storage shared by all empty arrays, which ThreadSanitizer reports.
        if count == 0 { return [] }
        return [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
            UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes)
            initialized = count
        }
    }
}
