// The table of steps of interleaving tests, from which the reader, the JSON schema and the reference in
// Scenarios/README.md are derived. Values only.
import TidegaugeSpec

/// Argument of a step, and the step that is made from it.
enum StepForm {
    typealias Step = Choreography.Step

    case alone(Step)
    /// Optional number of repetitions (default: 1).
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
        typealias Step = Choreography.Step
        return [
            .init("commit", .count(Step.commit), "So many commits, each changing a row that everybody watches."),
            .init("hold", .steps(Step.hold), "A commit during which the steps run, holding the write lock."),
            .init("subscribe", .subscribe, "Observers on this site; what they do when they are called."),
            .init("cancel", .subscription(Step.cancel), "Ends the subscriptions of this name."),
            .init(
                "requery", .subscription(Step.requery),
                "Ends the subscriptions of this name, and watches something else in their place."),
            .init(
                "covered", .subscription(Step.covered),
                "Waits until the subscriptions of this name have been called for the last commit."),
            .init("begin-write", .alone(.beginWrite), "Begins a write on this site, and cancels it."),
            .init("refresh", .alone(.refresh), "Moves this site on to the newest version."),
            .init("read", .steps(Step.read), "The steps run while a version is being read."),
            .init(
                "write-later", .steps(Step.writeLater),
                "Has the steps run in a transaction some time, on this site, and goes on."),
            .init("close", .alone(.close), "Closes the store."),
            .init("meet", .word("point", Step.meet), "Waits until everybody who names this point is there."),
            .init(
                "blocked", .word("thread", Step.blocked),
                "Waits until another thread is blocked, or through with its steps."),
            .init("lock", .named("name", Step.lock), "The steps run holding a lock of the program's own."),
            .init("sync", .named("site", Step.sync), "The steps run on a site, which is waited for."),
            .init("async", .named("site", Step.async), "The steps run on a site some time."),
            .init("refusable", .steps(Step.refusable), "The store may refuse these steps with an error."),
            .init("repeat", .times, "The steps, so many times."),
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
            "Where a thread's steps run: a thread of its own; a thread with a run loop or a serial queue, which are sites "
                + "where deliveries come and others can have things done. Default: thread."
        case .steps: "What is done, step by step."
        case .times: "How often, 1 to 10 000 times."
        case .as: "The name of the subscriptions. Default: observer."
        case .count:
            "So many observers, the first of everything, the others of the rows that are changed. Default: 1."
        case .initial: "What the first callback of each does."
        case .update: "What the first callback after it does."
        case .at: "The points at which a limit holds: swept keys and the value of each."
        case .limit: "The condition that holds there."
        }
    }
}
