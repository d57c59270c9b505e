// Names of one kind, each once, and the numbers by which callgrind's name compression calls them.

struct NameTable {
    private(set) var names: [String] = []
    private var places: [String: Int] = [:]
    private var numbered: [Int: Int] = [:]

    /// The place of a name in `names`, added where it is new.
    mutating func place(of name: String) -> Int {
        if let place = places[name] { return place }
        places[name] = names.count
        names.append(name)
        return names.count - 1
    }

    /// The place of what `(id) name`, `(id)` or `name` stands for; nil where a number has no name, or another one.
    mutating func place(id: Int?, name: String?) -> Int? {
        let place = name.map { self.place(of: $0) }
        guard let id else { return place }
        let known = numbered[id] ?? place
        numbered[id] = known
        return place == nil || place == known ? known : nil
    }
}
