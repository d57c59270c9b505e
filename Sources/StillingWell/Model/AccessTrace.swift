// How a key path becomes columns: it is read on an object that stands for none, and what is read notes itself here.

final class AccessTrace {
    private(set) var columns: [Int] = []
    /// False once something was read that is not on the way.
    private(set) var isPath = true
    /// Whose property comes next; nil behind the last one.
    private var place: StoredObject?

    init(_ start: StoredObject) { place = start }

    func note(_ owner: StoredObject, _ column: Int) {
        isPath = isPath && owner === place
        columns.append(column)
        place = nil
    }

    /// A link of `owner` is read: the way goes on at an object that stands for the one it leads to.
    func follow<Target: StoredObject>(_ owner: StoredObject, _ column: Int, to _: Target.Type) -> Target {
        note(owner, column)
        let target = Target()
        target.trace = self
        place = target
        return target
    }
}
