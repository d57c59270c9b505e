// An interleaving test: named threads with steps and barriers, and the expected ending per driver. Part of a trial's
// spec.

/// An interleaving test: its actors and the ending expected of each driver.
public struct InterleavingSpec: Codable, Sendable, Equatable {
    /// How an interleaving test ends.
    public enum Ending: String, Codable, Sendable, CaseIterable {
        case completes
        /// Threads wait for one another in a cycle.
        case deadlock
        /// Nothing moves, and no cycle of waits is known.
        case stall
        /// A trap ends the process.
        case trap
    }

    /// The thread or queue that an actor's steps run on.
    public enum Place: String, Codable, Sendable, CaseIterable {
        /// A thread without a run loop.
        case thread
        /// A thread with a run loop. It is a delivery context: other actors can run blocks there.
        case runLoop = "run-loop"
        /// A serial queue, which is also a delivery context.
        case queue
    }

    public struct Actor: Codable, Sendable, Equatable {
        /// Thread name, at most 15 bytes: the kernel keeps no more.
        public var name: String
        public var place: Place
        public var steps: [Step]

        package init(name: String, place: Place, steps: [Step]) {
            (self.name, self.place, self.steps) = (name, place, steps)
        }

        /// All steps, including nested ones.
        public var allSteps: [Step] { steps.flatMap(\.all) }
    }

    /// One action of an actor. Steps of an actor run one after the other.
    public indirect enum Step: Codable, Sendable, Equatable {
        /// Number of commits. Each gives a row a score that the queries of all observers match.
        case commit(Int)
        /// Runs the steps inside a write transaction, then commits.
        case hold([Step])
        /// Adds `count` observers on this actor's delivery context. The first watches all rows, the others the rows
        /// that commits have changed. `initial` runs in the initial callback of each, `update` in its first update.
        case subscribe(name: String, count: Int, initial: [Step], update: [Step])
        /// Cancels the subscriptions of this name.
        case cancel(String)
        /// Cancels the subscriptions of this name and subscribes to another query.
        case requery(String)
        /// Waits until every subscription of this name has been called for the last commit before this step.
        case covered(String)
        case beginWrite
        case refresh
        /// Runs the steps inside a read transaction.
        case read([Step])
        /// Queues a write transaction that runs the steps, and continues without waiting.
        case writeLater([Step])
        case close
        /// Barrier: waits until every actor that names it has arrived.
        case barrier(String)
        /// Waits until the named actor is blocked or has finished its steps.
        case blocked(String)
        /// Runs the steps while holding a lock of the harness.
        case lock(String, [Step])
        /// Runs the steps on another actor's delivery context and waits for them.
        case sync(String, [Step])
        /// Queues the steps on another actor's delivery context and continues.
        case async(String, [Step])
        /// Runs steps that the store may refuse with an error.
        case refusable([Step])
        case times(Int, [Step])

        /// Names in JSON. Renamed cases keep the name of spec version 12.
        enum CodingKeys: String, CodingKey {
            case commit, hold, subscribe, cancel, requery, covered, beginWrite, refresh, read, writeLater, close
            case blocked, lock, sync, async, refusable, times
            case barrier = "meet"
        }

        /// The nested steps, or an empty array.
        public var inner: [Step] {
            switch self {
            case .hold(let steps), .read(let steps), .writeLater(let steps), .lock(_, let steps), .sync(_, let steps),
                .async(_, let steps), .refusable(let steps), .times(_, let steps):
                steps
            case .subscribe(_, _, let initial, let update): initial + update
            default: []
            }
        }

        /// This step and all nested steps, each once.
        public var all: [Step] { [self] + inner.flatMap(\.all) }
    }

    /// Number of rows in the store at the start.
    public static let items = 10

    public var actors: [Actor]
    /// Expected ending by driver. `fallback` applies to drivers without an entry.
    public var endings: [String: Ending] = [:]
    public var fallback: Ending?
    /// Expected links of the deadlock's cycle as `thread>resource`. Empty: any cycle is accepted.
    public var cycle: [String] = []

    package init(
        actors: [Actor], endings: [String: Ending] = [:], fallback: Ending? = nil, cycle: [String] = []
    ) {
        (self.actors, self.endings, self.fallback, self.cycle) = (actors, endings, fallback, cycle)
    }

    /// Returns the expected ending on a driver (default: `completes`).
    public func ending(on driver: String) -> Ending { endings[driver] ?? fallback ?? .completes }
}
