// What each thread holds and waits for, as TracedSync reports it: read when a run stands still.
//
// Each thread writes to a slot of its own, of atomics. `lock` guards `slots` and `names`; it is a plain mutex, because a
// sink must not use a traced one. A name is entered when a thread first meets the resource.
import CPlatform
import Glibc
import Synchronization
import TracedSync

final class ThreadTrace: TracedSink, @unchecked Sendable {
    private final class Slot: @unchecked Sendable {
        static let heldLimit = 8
        static let cacheSize = 1_024
        let thread = cp_thread_id()
        let waitsFor = Atomic<UInt64>(0)
        let held: [Held]
        /// The owner's own: which resources it has entered names of.
        let known = UnsafeMutablePointer<UInt64>.allocate(capacity: cacheSize)
        var heldCount = 0

        final class Held: Sendable { let id = Atomic<UInt64>(0) }

        var heldIDs: [UInt64] { held.map { $0.id.load(ordering: .relaxed) }.filter { $0 != 0 } }

        init() {
            held = (0..<Self.heldLimit).map { _ in Held() }
            known.initialize(repeating: 0, count: Self.cacheSize)
        }
    }

    private let key: pthread_key_t
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var slots: [Slot] = []
    private var names: [UInt64: String] = [:]

    init() {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        self.key = key
        lock = .allocate(capacity: 1)
        lock.initialize(to: pthread_mutex_t())
        pthread_mutex_init(lock, nil)
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body()
    }

    private func slot() -> Slot {
        if let known = pthread_getspecific(key) { return Unmanaged<Slot>.fromOpaque(known).takeUnretainedValue() }
        let slot = Slot()
        withLock { slots.append(slot) }  // kept for good
        pthread_setspecific(key, Unmanaged.passUnretained(slot).toOpaque())
        return slot
    }

    func record(_ event: TracedEvent, _ resource: TracedResource) {
        let slot = slot()
        switch event {
        case .enqueued: break
        case .gaveUp: slot.waitsFor.store(0, ordering: .relaxed)
        case .willWait:
            enter(resource, slot)
            slot.waitsFor.store(resource.id, ordering: .relaxed)
        case .acquired:
            enter(resource, slot)
            slot.waitsFor.store(0, ordering: .relaxed)
            if slot.heldCount < Slot.heldLimit { slot.held[slot.heldCount].id.store(resource.id, ordering: .relaxed) }
            slot.heldCount += 1
        case .released: release(resource.id, slot)
        }
    }

    private func enter(_ resource: TracedResource, _ slot: Slot) {
        let place = Int(resource.id) % Slot.cacheSize
        if slot.known[place] == resource.id { return }
        slot.known[place] = resource.id
        withLock { names[resource.id] = "\(resource.kind.rawValue) '\(resource.name)'" }
    }

    private func release(_ id: UInt64, _ slot: Slot) {
        let count = min(slot.heldCount, Slot.heldLimit)
        guard let index = (0..<count).last(where: { slot.held[$0].id.load(ordering: .relaxed) == id }) else {
            slot.heldCount = max(0, slot.heldCount - 1)
            return
        }
        for next in index..<(count - 1) {
            slot.held[next].id.store(slot.held[next + 1].id.load(ordering: .relaxed), ordering: .relaxed)
        }
        slot.held[count - 1].id.store(0, ordering: .relaxed)
        slot.heldCount -= 1
    }

    /// One line per living thread that holds or waits for something. A racy reading, for diagnosis only.
    func report() -> String {
        let (slots, names): ([Slot], [UInt64: String]) = withLock { (self.slots, self.names) }
        return slots.compactMap { line($0, names) }.joined(separator: "\n")
    }

    /// nil for a thread that has ended, or neither holds nor waits for anything.
    private func line(_ slot: Slot, _ names: [UInt64: String]) -> String? {
        guard let comm = Self.nameOfThread(slot.thread) else { return nil }
        func name(_ id: UInt64) -> String { "\(names[id] ?? "something") (\(id))" }
        let held: [String] = slot.heldIDs.map(name)
        let waits = slot.waitsFor.load(ordering: .relaxed)
        if held.isEmpty, waits == 0 { return nil }
        var text = "thread \(slot.thread) \(comm):"
        if !held.isEmpty { text += " holds or runs " + held.joined(separator: ", ") }
        if waits != 0 { text += " waits for \(name(waits))" }
        return text
    }

    /// As the kernel has it; nil when the thread has ended.
    private static func nameOfThread(_ thread: Int32) -> String? {
        guard let file = fopen("/proc/self/task/\(thread)/comm", "r") else { return nil }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        let count = getline(&line, &capacity, file)
        return count > 0 ? String(cString: line!).split(separator: "\n").first.map(String.init) : nil
    }
}
