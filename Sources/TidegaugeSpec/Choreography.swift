// A scenario that is no load but a play: named threads with steps and meeting points, over any store, and how it must end.
// Values only; they are part of a trial's spec.

/// Threads, what each does, and the end that is expected of each driver.
public struct Choreography: Codable, Sendable, Equatable {
    /// How a play ends.
    public enum Ending: String, Codable, Sendable, CaseIterable {
        case completes
        /// Threads wait for one another in a closed circle.
        case deadlock
        /// Nobody waits for anybody who is known, and nothing moves.
        case stall
        /// The process is stopped by a trap.
        case trap
    }

    /// Where an actor's steps run.
    public enum Place: String, Codable, Sendable, CaseIterable {
        /// A thread of its own.
        case thread
        /// A thread with a run loop: a site, where deliveries come and others can have things done.
        case runLoop = "run-loop"
        /// A serial queue: a site too.
        case queue
    }

    public struct Actor: Codable, Sendable, Equatable {
        /// At most 15 bytes, which the kernel keeps of it.
        public var name: String
        public var place: Place
        public var steps: [Step]

        package init(name: String, place: Place, steps: [Step]) {
            (self.name, self.place, self.steps) = (name, place, steps)
        }

        /// All its steps, those inside others too.
        public var allSteps: [Step] { steps.flatMap(\.all) }
    }

    /// One thing that an actor does, before it does the next.
    public indirect enum Step: Codable, Sendable, Equatable {
        /// So many commits, each changing a row that everybody watches.
        case commit(Int)
        /// A commit during which the steps run, holding the write lock.
        case hold([Step])
        /// So many observers on this site, the first of everything, others of the rows that have been changed; what the initial callback of each does, and
        /// what the first update does.
        case subscribe(name: String, count: Int, initial: [Step], update: [Step])
        /// Ends the subscriptions of this name.
        case cancel(String)
        /// Ends them and watches something else in their place.
        case requery(String)
        /// Waits until the subscriptions of this name have been called for the last commit.
        case covered(String)
        case beginWrite
        case refresh
        /// The steps run while a version is being read.
        case read([Step])
        /// Has the steps run in a transaction some time, on this site, and goes on.
        case writeLater([Step])
        case close
        /// Waits until everybody who names this point is there.
        case meet(String)
        /// Waits until another actor is blocked, or through with its steps.
        case blocked(String)
        /// The steps run holding a lock of the program's own.
        case lock(String, [Step])
        /// The steps run on a site, which is waited for.
        case sync(String, [Step])
        /// The steps run on a site some time.
        case async(String, [Step])
        /// The store may refuse these with an error.
        case refusable([Step])
        case times(Int, [Step])

        /// The steps inside.
        public var inner: [Step] {
            switch self {
            case .hold(let steps), .read(let steps), .writeLater(let steps), .lock(_, let steps), .sync(_, let steps),
                .async(_, let steps), .refusable(let steps), .times(_, let steps):
                steps
            case .subscribe(_, _, let initial, let update): initial + update
            default: []
            }
        }

        /// This step and all inside, each once.
        public var all: [Step] { [self] + inner.flatMap(\.all) }
    }

    /// Rows in the store when it begins.
    public static let items = 10

    public var actors: [Actor]
    /// By driver; `fallback` for those that are not named.
    public var endings: [String: Ending] = [:]
    public var fallback: Ending?
    /// `thread>resource`, one per link of the circle that a deadlock must be; empty where any will do.
    public var cycle: [String] = []

    package init(
        actors: [Actor], endings: [String: Ending] = [:], fallback: Ending? = nil, cycle: [String] = []
    ) {
        (self.actors, self.endings, self.fallback, self.cycle) = (actors, endings, fallback, cycle)
    }

    /// How it must end on a driver.
    public func ending(on driver: String) -> Ending { endings[driver] ?? fallback ?? .completes }
}
