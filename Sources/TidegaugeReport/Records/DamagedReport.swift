/// Error: a file or folder of a report is missing, damaged or not usable.
public struct DamagedReport: Error, CustomStringConvertible, Equatable {
    public var description: String
    init(_ description: String) { self.description = description }
}
