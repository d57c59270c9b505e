// What an observer reads inside its callbacks beside recording them (`observers.reads`). Answers are written down where memory was
// reserved before, and held against the model when the load is over (`AnswerCheck`). Everything belongs to the observer's site.
import StillingWellBasis
import TidegaugeDriver
import TidegaugeMeasure
import TidegaugeSpec

final class CallbackReader: Sendable {
    let answers: RecordBuffer<GivenAnswer>
    let reads: ObserversSpec.Reads
    private let items: UInt64
    private let shelf: OpenedStore?
    // Both are the site's own; whoever looks at the answers does so when the load is over.
    nonisolated(unsafe) private var asked: (any AnsweringSubscription)?
    /// Why the first of the questions without an answer has none.
    nonisolated(unsafe) private(set) var failure: String?

    /// Nil where nothing is read.
    /// - Parameter shelf: the store that is opened, of those who open one.
    init?(_ spec: TrialSpec, _ shelf: OpenedStore?) throws {
        guard let reads = spec.observers.reads, reads != .none else { return nil }
        (self.reads, self.shelf) = (reads, shelf)
        items = UInt64(spec.dataset.items)
        answers = try RecordBuffer(capacity: TrialSize.callbacks(spec), prefaulted: 1_024)
    }

    /// The row that is looked up in a callback.
    static func key(_ callback: Int, of items: UInt64) -> Int64 {
        Int64(bitPattern: SplitMix64.mix(UInt64(callback)) % items)
    }

    /// - Parameter callback: its number.
    func read(_ subscription: any DriverSubscription, callback: Int) {
        let answer: ReadAnswer?
        do {
            answer = try self.answer(subscription, callback)
        } catch {
            answer = nil
            failure = failure ?? "\(error)"
        }
        answers.append(
            GivenAnswer(
                callback: Int32(clamping: callback), isGiven: answer != nil, version: answer?.version ?? 0,
                value: answer?.value ?? 0))
    }

    private func answer(_ subscription: any DriverSubscription, _ callback: Int) throws -> ReadAnswer {
        if let shelf { return try shelf.read() }
        // Asking for a conformance takes longer than some questions, so it is asked for once.
        if asked == nil { asked = subscription as? any AnsweringSubscription }
        guard let asked else { throw DriverUnavailable("its subscriptions answer no questions") }
        return try asked.answer(question(callback))
    }

    private func question(_ callback: Int) -> ReadQuestion {
        switch reads {
        case .lookup: .lookup(key: Self.key(callback, of: items))
        case .count, .none, .open: .count
        case .sum: .sum
        case .window: .window
        case .iterate: .iterate
        }
    }
}

/// What was answered in one callback.
struct GivenAnswer: BitwiseCopyable, Sendable {
    var callback: Int32
    /// False where an error was thrown.
    var isGiven: Bool
    var version: Int64
    var value: Int64
}
