// The table of steps of interleaving tests, from which the reader, the JSON schema and the reference in
// Docs/scenarios.md are derived. Values only.
import TidegaugeSpec

/// Argument of a step, and the step that is made from it.
enum StepForm {
    typealias Step = InterleavingSpec.Step

    case alone(Step)
    /// Optional number (default: 1).
    case count((Int) -> Step)
    case steps(([Step]) -> Step)
    /// Optional name of a subscription.
    case subscription((String) -> Step)
    case subscribe
    /// A word, with its description.
    case word(String, (String) -> Step)
    /// Steps under a name, with the description of the name.
    case named(String, (String, [Step]) -> Step)
    case times

    /// Returns the syntax of a step.
    func usage(_ name: String) -> String {
        switch self {
        case .alone: "'\(name)' alone"
        case .count: "'\(name)' or '\(name): 3'"
        case .steps: "'\(name): [steps]'"
        case .subscription: "'\(name)', or '\(name): name' of a subscription"
        case .subscribe: "'subscribe', or 'subscribe: { as: name, count: 1, initial: [steps], update: [steps] }'"
        case .word(let what, _): "'\(name): \(what)'"
        case .named(let what, _): "'\(name): { \(what): [steps] }'"
        case .times: "'repeat: { times: 10, steps: [steps] }'"
        }
    }

    /// Whether the step may be written without an argument.
    var mayStandAlone: Bool {
        switch self {
        case .alone, .count, .subscription, .subscribe: true
        case .steps, .word, .named, .times: false
        }
    }
}

/// A row of the table of steps.
struct StepRow {
    let name: String
    let form: StepForm
    /// One-sentence description.
    let summary: String

    init(_ name: String, _ form: StepForm, _ summary: String) {
        (self.name, self.form, self.summary) = (name, form, summary)
    }

    static var all: [StepRow] {
        typealias Step = InterleavingSpec.Step
        return [
            .init("commit", .count(Step.commit), "Commits, each of which changes a row that every observer watches."),
            .init(
                "hold", .steps(Step.hold),
                "Runs the steps inside a write transaction, holding the write lock, and commits."),
            .init(
                "subscribe", .subscribe,
                "Adds observers on this delivery context. `initial` and `update` run in their callbacks."),
            .init("cancel", .subscription(Step.cancel), "Cancels the subscriptions of this name."),
            .init(
                "requery", .subscription(Step.requery),
                "Cancels the subscriptions of this name and subscribes to another query."),
            .init(
                "covered", .subscription(Step.covered),
                "Waits until the subscriptions of this name have been called for the last commit."),
            .init(
                "begin-write", .alone(.beginWrite),
                "Begins a write transaction on this delivery context and cancels it."),
            .init("refresh", .alone(.refresh), "Advances this delivery context to the newest version."),
            .init("read", .steps(Step.read), "Runs the steps inside a read transaction."),
            .init(
                "write-later", .steps(Step.writeLater),
                "Queues a write transaction with the steps on this delivery context, and continues."),
            .init("close", .alone(.close), "Closes the store."),
            .init(
                "barrier", .word("name", Step.barrier), "Waits until every thread that names this barrier has arrived."),
            .init(
                "blocked", .word("thread", Step.blocked),
                "Waits until another thread is blocked or has finished its steps."),
            .init("lock", .named("name", Step.lock), "Runs the steps while holding a lock of the harness."),
            .init("sync", .named("context", Step.sync), "Runs the steps on a delivery context and waits for them."),
            .init("async", .named("context", Step.async), "Queues the steps on a delivery context and continues."),
            .init("refusable", .steps(Step.refusable), "Runs steps that the store may refuse with an error."),
            .init("repeat", .times, "Runs the steps this many times."),
        ]
    }
}

/// A key within a thread, a step or a restricted limit.
enum InnerKey: String, CaseIterable {
    case runsOn = "runs_on"
    case steps, times
    case `as`, count, initial, update
    case at, limit

    var summary: String {
        switch self {
        case .runsOn:
            "Where the steps run: a plain thread; a thread with a run loop; a serial queue. The last two are delivery "
                + "contexts: observers are called there, and other threads can run steps there. Default: thread."
        case .steps: "The steps, in order."
        case .times: "Number of repetitions, 1 to 10,000."
        case .as: "The name of the subscriptions. Default: observer."
        case .count:
            "Number of observers. The first watches all rows, the others the rows that commits change. Default: 1."
        case .initial: "What the first callback of each does."
        case .update: "What the first callback after it does."
        case .at: "The points at which a limit holds: swept keys and the value of each."
        case .limit: "The condition that holds there."
        }
    }
}
