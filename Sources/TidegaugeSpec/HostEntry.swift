// A host as a hosts file names it: by the command that leads there. Values only.

public struct HostEntry: Codable, Sendable, Equatable {
    /// As files and messages call it.
    public var name: String
    /// Words before those that start an agent, such as `ssh -T b.example`; none: here.
    public var run: [String]
    /// Where the binary stands there; nil: where it stands here.
    public var binary: String?
    /// Where it reaches a server that is started beside the trial; nil: nobody has said.
    public var serverAddress: String?

    public init(name: String, run: [String] = [], binary: String? = nil) {
        (self.name, self.run, self.binary) = (name, run, binary)
    }

    /// This process's own machine, in the same file system.
    public static let here = HostEntry(name: "here")

    /// Whether its agent is started from this process's own file, and on this machine.
    public var isHere: Bool { run.isEmpty && binary == nil }
}
