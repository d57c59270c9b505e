// Error in a profile, with its position.

public struct CallgrindError: Error, Sendable, Equatable, CustomStringConvertible {
    public var path: String
    /// Line from 1; nil if the error concerns the whole file.
    public var line: Int?
    public var message: String

    /// `out-02:17: expected the cost of the call on the line before, found 'fn=(3) f'; record the profile again`.
    public var description: String { path + (line.map { ":\($0)" } ?? "") + ": " + message }
}
