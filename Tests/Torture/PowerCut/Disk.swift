// The state of a disk after a power cut. Flushed writes are there. Of later writes any part may be there. Only
// `write(to:_:_:)` changes files.
import Foundation
import StillingWellSeededRandom
import StillingWellTortureSupport

/// The files of a recording up to one of its steps.
struct Disk {
    private struct Change {
        let step: Int
        let file: UInt32
        let offset: Int
        /// The bytes written, or nil if the file was truncated to `offset`.
        let bytes: UnsafeRawBufferPointer?

        var isOfHeaders: Bool { offset < Disk.headerBytes }
    }

    private enum NameChange {
        case link(String, UInt32)
        case rename(from: String, to: String)
        case unlink(String)
    }

    /// Size of the two meta pages, which hold the roots of the B-trees.
    private static let headerBytes = 8_192

    private var contents: [UInt32: [UInt8]] = [:]
    private var names: [String: UInt32] = [:]
    // Changes that are not flushed yet, in order.
    private var changes: [Change] = []
    private var nameChanges: [NameChange] = []
    /// Number of steps before each open flush, and of the unflushed name changes before it.
    private var flushes: [UInt64: (steps: Int, names: Int)] = [:]
    private var step = 0

    /// Applies the next step.
    mutating func advance(_ next: Step) {
        defer { step += 1 }
        switch next {
        case .link(let name, let file): nameChanges.append(.link(name, file))
        case .rename(let from, let to): nameChanges.append(.rename(from: from, to: to))
        case .unlink(let name): nameChanges.append(.unlink(name))
        case .truncate(let file, let bytes): changes.append(Change(step: step, file: file, offset: bytes, bytes: nil))
        case .write(let file, let offset, let bytes, let isSynced):
            let change = Change(step: step, file: file, offset: offset, bytes: bytes)
            guard isSynced else { return changes.append(change) }
            // Unflushed writes that a synced write overlaps are dropped: they cannot reach the disk any more.
            changes.removeAll { Self.overlap($0, change) }
            Self.apply(change, to: &contents)
        case .flushBegin(_, let number): flushes[number] = (step, nameChanges.count)
        case .flushEnd(let file, let number):
            guard let begin = flushes.removeValue(forKey: number) else { return }
            if file == 0 { return flushNames(begin.names) }
            for change in changes where change.file == file && change.step < begin.steps {
                Self.apply(change, to: &contents)
            }
            changes.removeAll { $0.file == file && $0.step < begin.steps }
        case .note: return
        }
    }

    private mutating func flushNames(_ count: Int) {
        for change in nameChanges[..<count] { Self.apply(change, to: &names) }
        nameChanges.removeFirst(count)
        for number in flushes.keys { flushes[number]!.names = max(0, flushes[number]!.names - count) }
    }

    private static func overlap(_ first: Change, _ second: Change) -> Bool {
        guard first.file == second.file, let bytes = first.bytes, let others = second.bytes else { return false }
        return first.offset < second.offset + others.count && second.offset < first.offset + bytes.count
    }

    private static func apply(_ change: NameChange, to names: inout [String: UInt32]) {
        switch change {
        case .link(let name, let file): names[name] = file
        case .unlink(let name): names[name] = nil
        case .rename(let from, let to): if let file = names.removeValue(forKey: from) { names[to] = file }
        }
    }

    private static func apply(_ change: Change, to contents: inout [UInt32: [UInt8]]) {
        guard let bytes = change.bytes else {
            let present = contents[change.file]?.count ?? 0
            if present > change.offset { contents[change.file]!.removeLast(present - change.offset) }
            return extend(&contents[change.file, default: []], to: change.offset)
        }
        put(bytes, at: change.offset, into: &contents[change.file, default: []])
    }

    private static func extend(_ content: inout [UInt8], to bytes: Int) {
        if content.count < bytes { content.append(contentsOf: repeatElement(0, count: bytes - content.count)) }
    }

    private static func put(_ bytes: UnsafeRawBufferPointer, at offset: Int, into content: inout [UInt8]) {
        extend(&content, to: offset + bytes.count)
        content.withUnsafeMutableBytes {
            $0.baseAddress!.advanced(by: offset).copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
        }
    }

    // MARK: Images

    /// Selection of the unflushed changes that an image contains.
    enum Part: CaseIterable {
        case nothing, everything, oldest, newest, allButOne, headersAlone, allButHeaders, writes, pages, sectors
    }

    /// Files that are written through memory maps, so the journal does not have their content.
    private static let mapped: Set = ["lock.mdb", "shared"]

    /// Writes an image into a folder. Deletes the folder's old content first.
    func write(to folder: String, _ part: Part, _ random: inout SeededRandom) throws {
        var contents = contents
        let kept = Double.random(in: 0...1, using: &random)
        let border = changes.isEmpty ? 0 : random.below(changes.count + 1)
        let missing = changes.isEmpty ? 0 : random.below(changes.count)
        for (index, change) in changes.enumerated() {
            let isWhole: Bool
            switch part {
            case .nothing: isWhole = false
            case .everything: isWhole = true
            case .oldest: isWhole = index < border
            case .newest: isWhole = index >= border
            case .allButOne: isWhole = index != missing
            case .headersAlone: isWhole = change.isOfHeaders
            case .allButHeaders: isWhole = !change.isOfHeaders
            case .writes: isWhole = random.chance(kept)
            case .pages, .sectors:
                Self.apply(change, unitBytes: part == .pages ? 4_096 : 512, kept, to: &contents, &random)
                continue
            }
            if isWhole { Self.apply(change, to: &contents) }
        }
        var names = names
        for change in nameChanges where part == .everything || part != .nothing && random.chance(0.5) {
            Self.apply(change, to: &names)
        }
        try Self.write(names, contents, to: folder, &random)
    }

    /// Splits a change into aligned units and applies a random part of them.
    private static func apply(
        _ change: Change, unitBytes: Int, _ kept: Double, to contents: inout [UInt32: [UInt8]],
        _ random: inout SeededRandom
    ) {
        guard let bytes = change.bytes else {
            if random.chance(kept) { apply(change, to: &contents) }
            return
        }
        var place = 0
        while place < bytes.count {
            // A disk writes units at multiples of their size.
            let end = min(bytes.count, (change.offset + place) / unitBytes * unitBytes + unitBytes - change.offset)
            if random.chance(kept) {
                put(
                    UnsafeRawBufferPointer(rebasing: bytes[place..<end]), at: change.offset + place,
                    into: &contents[change.file, default: []])
            }
            place = end
        }
    }

    private static func write(
        _ names: [String: UInt32], _ contents: [UInt32: [UInt8]], to folder: String, _ random: inout SeededRandom
    ) throws {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, file) in names.sorted(by: { $0.key < $1.key }) {
            var content = contents[file] ?? []
            if mapped.contains(name) {
                if random.chance(0.25) { continue }
                if random.chance(0.5) {
                    for index in content.indices { content[index] = UInt8(truncatingIfNeeded: random.next()) }
                }
            }
            guard FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data(content)) else {
                refuse("\(folder)/\(name) cannot be made; see whether there is room")
            }
        }
    }
}

extension SeededRandom {
    mutating func chance(_ probability: Double) -> Bool { Double.random(in: 0..<1, using: &self) < probability }
}
