// Steps that the processes of a recording made on the files of a store, as CStillingWellWriteRecorder noted them.
import CStillingWellWriteRecorder
import StillingWellTortureSupport

enum Step {
    /// The name leads to the file from this step on.
    case link(String, UInt32)
    case write(UInt32, offset: Int, UnsafeRawBufferPointer, isSynced: Bool)
    case truncate(UInt32, bytes: Int)
    /// Start of a flush of a file. The number pairs it with its end.
    case flushBegin(UInt32, UInt64)
    case flushEnd(UInt32, UInt64)
    case rename(from: String, to: String)
    case unlink(String)
    case note(Note)

    var isFlush: Bool {
        switch self {
        case .flushBegin, .flushEnd, .write(_, offset: _, _, isSynced: true): true
        case .link, .write, .truncate, .rename, .unlink, .note: false
        }
    }
}

/// Notes that the writers of a recording add about their commits.
enum Note {
    /// A writer is about to make the store's commit number `count`, as its own step `step`.
    case begins(count: Int, writer: Int, step: Int)
    /// `write` has returned for commit number `count`.
    case acknowledged(count: Int)
    /// `synchronize` has returned, so all commits up to `count` must survive.
    case synchronized(count: Int)

    var text: String {
        switch self {
        case .begins(let count, let writer, let step): "begins \(count) \(writer) \(step)"
        case .acknowledged(let count): "acknowledged \(count)"
        case .synchronized(let count): "synchronized \(count)"
        }
    }

    init?(_ text: String) {
        let words = text.split(separator: " ")
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch (words.first, numbers.count) {
        case ("begins", 3): self = .begins(count: numbers[0], writer: numbers[1], step: numbers[2])
        case ("acknowledged", 1): self = .acknowledged(count: numbers[0])
        case ("synchronized", 1): self = .synchronized(count: numbers[0])
        default: return nil
        }
    }

    /// Appends the note to the journal.
    func post() { wr_note(text) }
}

/// All steps of a recording. Bytes of writes are in the recorder's memory until the next recording begins.
struct Journal {
    let steps: [Step]

    init() {
        var bytes: UInt64 = 0
        guard let base = wr_journal(&bytes) else {
            refuse("the journal has no room for the recording: make less commits")
        }
        let all = UnsafeRawBufferPointer(start: base, count: Int(bytes))
        var steps: [Step] = []
        var place = 0
        while place < all.count {
            let head = all.loadUnaligned(fromByteOffset: place, as: wr_step.self)
            place += MemoryLayout<wr_step>.size
            let payload = UnsafeRawBufferPointer(rebasing: all[place..<place + Int(head.payload_bytes)])
            place += (payload.count + 7) & ~7
            steps.append(Self.step(head, payload))
        }
        self.steps = steps
    }

    private static func step(_ head: wr_step, _ payload: UnsafeRawBufferPointer) -> Step {
        let text = { String(decoding: payload, as: UTF8.self) }
        switch Int(head.kind) {
        case WR_LINK: return .link(text(), head.file)
        case WR_WRITE: return .write(head.file, offset: Int(head.offset), payload, isSynced: false)
        case WR_WRITE_SYNCED: return .write(head.file, offset: Int(head.offset), payload, isSynced: true)
        case WR_TRUNCATE: return .truncate(head.file, bytes: Int(head.offset))
        case WR_FLUSH_BEGIN: return .flushBegin(head.file, head.offset)
        case WR_FLUSH_END: return .flushEnd(head.file, head.offset)
        case WR_UNLINK: return .unlink(text())
        case WR_RENAME:
            let names = text().split(separator: "\0").map(String.init)
            return .rename(from: names[0], to: names[1])
        case WR_NOTE:
            guard let note = Note(text()) else { refuse("no note of a recording: \(text())") }
            return .note(note)
        default: refuse("no step of a recording: \(head.kind)")
        }
    }
}
