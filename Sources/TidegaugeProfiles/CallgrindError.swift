// What is wrong with a profile, and where.

public struct CallgrindError: Error, Sendable, Equatable, CustomStringConvertible {
    public var path: String
    /// From 1; nil where the file as such is meant.
    public var line: Int?
    /// What was expected and what was found, or why the file cannot be read.
    public var message: String

    /// `out-02:17: expected the cost of the call before, found 'fn=(3) f'; if the file is damaged, record it again`.
    public var description: String { path + (line.map { ":\($0)" } ?? "") + ": " + message }
}
