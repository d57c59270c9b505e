/// Error: a report's folder is incomplete or damaged.
public struct DamagedReport: Error, CustomStringConvertible, Equatable {
    public var description: String
    init(_ description: String) { self.description = description }
}
