// Performs the reads of `observers.reads` in an observer's callbacks. Answers are stored in preallocated memory and
// compared with the model after the load (`AnswerCheck`). Used on the observer's delivery context.
import StillingWellBasis
import StillingWellSync
import Synchronization
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

final class CallbackReader: Sendable {
    let answers: RecordBuffer<GivenAnswer>
    let reads: ObserversSpec.Reads
    /// Condition by which `count` counts, or nil.
    let condition: RowCondition?
    private let items: UInt64
    private let shelf: OpenedStore?
    private let asked = DeliveryBound<(any AnsweringSubscription)?>(nil)
    /// Error of the first question without an answer. Locked, because a faulty engine may call an observer after the
    /// load, while this is read.
    private let unanswered = Mutex<String?>(nil)

    /// Nil if nothing is read.
    /// - Parameter shelf: the store to open in callbacks, if the reads open one.
    init?(_ spec: TrialSpec, _ shelf: OpenedStore?) throws {
        guard let reads = spec.observers.reads, reads != .none else { return nil }
        (self.reads, self.shelf) = (reads, shelf)
        condition = try RowCondition(spec)
        items = UInt64(spec.dataset.items)
        answers = try RecordBuffer(capacity: TrialSize.callbacks(spec), prefaulted: 1_024)
    }

    /// Error of the first question without an answer, or nil. Any thread.
    var failure: String? { unanswered.withLock { $0 } }

    /// Returns the key of the row that a callback looks up.
    static func key(_ callback: Int, of items: UInt64) -> Int64 {
        Int64(bitPattern: SplitMix64.mix(UInt64(callback)) % items)
    }

    /// - Parameter callback: number of the callback.
    func read(_ subscription: any DriverSubscription, callback: Int) {
        let answer: ReadAnswer?
        do {
            answer = try self.answer(subscription, callback)
        } catch {
            answer = nil
            unanswered.withLock { $0 = $0 ?? "\(error)" }
        }
        answers.append(
            GivenAnswer(
                callback: Int32(clamping: callback), isGiven: answer != nil, version: answer?.version ?? 0,
                value: answer?.value ?? 0))
    }

    private func answer(_ subscription: any DriverSubscription, _ callback: Int) throws -> ReadAnswer {
        if let shelf { return try shelf.read() }
        // The cast takes longer than some questions, so its result is cached.
        if asked.value == nil { asked.value = subscription as? any AnsweringSubscription }
        guard let asked = asked.value else { throw DriverUnavailable("its subscriptions answer no questions") }
        return try asked.answer(question(callback))
    }

    private func question(_ callback: Int) -> ReadQuestion {
        switch reads {
        case .lookup: .lookup(key: Self.key(callback, of: items))
        case .count, .none, .open: condition.map(ReadQuestion.countWhere) ?? .count
        case .sum: .sum
        case .window: .window
        case .iterate: .iterate
        }
    }
}

extension RowCondition {
    /// Makes the condition of a trial. Returns nil if there is none. O(items of the dataset).
    init?(_ spec: TrialSpec) throws {
        guard let text = spec.observers.condition else { return nil }
        let (dataset, shape) = (Dataset(spec), RowShape(spec))
        func rows(_ count: Int) -> [Item] { (0..<count).map { dataset.item(at: $0 * dataset.items / count) } }
        switch try ConditionSpec(text).test {
        case .score(let count): self.init(.score(in: rows(count).map(\.score)))
        case .scoreEither(let count): self.init(.scoreEither(rows(count).map(\.score)))
        case .text(let count): self.init(.text(in: rows(count).map(shape.text)))
        case .textStarts(let word, let ignoresCase): self.init(.textStarts(word, ignoringCase: ignoresCase))
        case .textContains(let word, let ignoresCase): self.init(.textContains(word, ignoringCase: ignoresCase))
        }
    }
}

/// The answer of one callback.
struct GivenAnswer: BitwiseCopyable, Sendable {
    var callback: Int32
    /// False if an error was thrown.
    var isGiven: Bool
    var version: Int64
    var value: Int64
}
