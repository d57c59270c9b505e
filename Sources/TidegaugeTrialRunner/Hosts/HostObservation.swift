// What observers beside the writers of a host have recorded, on its way to the trial: cut into parts, on the host's clock. Pure.
import Foundation
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec
import TidegaugeTrial

/// Until when the observers of a host are waited for.
struct HostGoal: Codable, Sendable {
    /// By query, the version that its observers have to cover; none where nothing has changed its rows.
    var versions: [Int64?]
    /// The same where versions are known only afterwards: the commits that what they are called with has to show.
    var tokens: [[Int64]]?
}

/// All that one observer has recorded, and what it shows in the end.
struct HostObservation: Codable, Sendable, Equatable {
    private static let partBytes = 2_000_000

    /// By its number in the plan.
    var observer: Int
    var site: Int
    var subscribedNs: Int64
    var endNs: Int64
    var callbacks: PackedArray<CallbackRecord>
    var indices: PackedArray<Int32>
    var items: PackedArray<Item>
    /// Of all observers of the process, with the first: see `LateVersions.shown`.
    var shown: PackedArray<UInt8>?

    /// Most that hosts send of one observer of a trial, and most observers of a host.
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
            // A row that is inserted has an index.
            items = spec.dataset.items + indices
        }
    }

    /// The frames that it travels in. The first byte of each says whether it is the last.
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

/// Values as they lie in memory, compressed: both ends are the same binary.
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
        // The initializer below writes to what all empty arrays share, which ThreadSanitizer reports.
        if count == 0 { return [] }
        return [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
            UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes)
            initialized = count
        }
    }
}
