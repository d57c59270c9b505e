// Distinct names of one kind, and the IDs of callgrind's name compression.

struct NameTable {
    private(set) var names: [String] = []
    private var places: [String: Int] = [:]
    private var numbered: [Int: Int] = [:]

    /// Returns the index of a name in `names`, adding it if it is new.
    mutating func place(of name: String) -> Int {
        if let place = places[name] { return place }
        places[name] = names.count
        names.append(name)
        return names.count - 1
    }

    /// Returns the index for `(id) name`, `(id)` or `name`. Returns nil if there is no name, or the ID has another one.
    mutating func place(id: Int?, name: String?) -> Int? {
        let place = name.map { self.place(of: $0) }
        guard let id else { return place }
        let known = numbered[id] ?? place
        numbered[id] = known
        return place == nil || place == known ? known : nil
    }
}
