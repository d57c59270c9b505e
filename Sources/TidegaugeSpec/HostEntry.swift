// A host as a hosts file names it: by the command that starts a program there. Values only.

public struct HostEntry: Codable, Sendable, Equatable {
    /// Name in files and messages.
    public var name: String
    /// Command prefix that runs the agent on the host, such as `ssh -T b.example`. Empty: run it on this machine.
    public var run: [String]
    /// Path of the binary on the host; nil: the path of this process's binary.
    public var binary: String?
    /// Address at which the host reaches a server that the trial starts; nil: not given.
    public var serverAddress: String?

    public init(name: String, run: [String] = [], binary: String? = nil) {
        (self.name, self.run, self.binary) = (name, run, binary)
    }

    /// This machine.
    public static let here = HostEntry(name: "here")

    /// Whether the agent runs on this machine from this process's binary.
    public var isHere: Bool { run.isEmpty && binary == nil }
}
