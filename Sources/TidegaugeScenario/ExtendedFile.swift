// Merges a file with the files that it `extends` into one tree. Sections and profiles are merged key by key, other
// values are replaced as a whole, and `without` removes keys. Every node keeps its file for error messages.
import TidegaugeSpec

struct ExtendedFile {
    let root: YAMLNode
    /// Bytes of the file and of all files that it extends, for the scenario's hash.
    let bytes: [UInt8]

    /// Maximum number of files in a chain of `extends`.
    private static let maximumFiles = 16
    /// Maps that are merged key by key.
    private static let layered = Set(
        (FileKey.sections + [.profiles]).map(\.rawValue) + Profile.allCases.map(\.rawValue))
    static let removable =
        FileKey.allCases.filter { ![.extends, .without, .purpose].contains($0) }.map(\.rawValue)
        + Setting.allCases.map(\.rawValue)

    /// Reports problems. Returns nil after those that leave nothing to read.
    static func read(_ bytes: [UInt8], _ files: NamedFiles, into problems: inout ProblemList) -> ExtendedFile? {
        let file = problems.paths.count - 1
        problems.fileOfText = file
        let tree = YAMLText(bytes, into: &problems).flatMap { YAMLTree.read($0, into: &problems) }
        problems.fileOfText = 0
        guard let root = tree?.moved(toFile: file) else { return nil }
        guard case .mapping(let own) = root.content, let key = own.first(where: { $0.key == FileKey.extends.rawValue })
        else {
            if case .mapping(let own) = root.content, let key = own.first(where: { $0.key == FileKey.without.rawValue })
            {
                problems.add(key.position, "'without' requires 'extends' (add it, or remove 'without')")
            }
            return ExtendedFile(root: root, bytes: bytes)
        }
        guard let base = readBase(key.value, files, into: &problems) else { return nil }
        guard case .mapping(var entries) = base.root.content else {
            return ExtendedFile(root: base.root, bytes: bytes + base.bytes)
        }
        entries.removeAll { [FileKey.extends, .without].map(\.rawValue).contains($0.key) }
        if let without = own.first(where: { $0.key == FileKey.without.rawValue }) {
            remove(without.value, from: &entries, into: &problems)
        }
        let content = YAMLNode.Content.mapping(merged(own, over: entries))
        return ExtendedFile(root: YAMLNode(position: root.position, content: content), bytes: bytes + base.bytes)
    }

    private static func readBase(
        _ node: YAMLNode, _ files: NamedFiles, into problems: inout ProblemList
    ) -> ExtendedFile? {
        guard case .scalar(let name, _) = node.content, !name.isEmpty else {
            problems.add(
                node.position,
                "'extends' expects a file such as 'other.yaml', or a scenario's name, found \(node.description)")
            return nil
        }
        switch files.extended(name, problems.paths[node.position.file]) {
        case .missing(let hint):
            problems.add(
                node.position,
                "'extends' names '\(Quantity.clipped(name))', and there is no such file beside this one and no scenario of "
                    + "that name\(hint)")
            return nil
        case .unreadable(let path, let why):
            problems.add(node.position, "'extends' names '\(path)': \(why)")
            return nil
        case .found(let path, _) where !path.hasSuffix(".yaml"):
            // Error messages quote a file's content, so files other than scenarios are not parsed.
            problems.add(node.position, "'extends' names '\(Quantity.clipped(path))', and a scenario is a *.yaml file")
            return nil
        case .found(let path, let bytes):
            let trail = problems.paths + [path]
            if problems.paths.contains(path) || trail.count > maximumFiles {
                problems.add(
                    node.position,
                    "'extends' leads in a circle: \(trail.joined(separator: " → ")) (end it in one of them)")
                return nil
            }
            problems.begin(path)
            return read(bytes, files, into: &problems)
        }
    }

    /// Merges the keys of `own` over `below`, whose order is kept.
    private static func merged(_ own: [YAMLNode.Entry], over below: [YAMLNode.Entry]) -> [YAMLNode.Entry] {
        var entries = below
        for entry in own {
            guard let index = entries.firstIndex(where: { $0.key == entry.key }) else {
                entries.append(entry)
                continue
            }
            if layered.contains(entry.key), case .mapping(let mine) = entry.value.content,
                case .mapping(let others) = entries[index].value.content
            {
                let content = YAMLNode.Content.mapping(merged(mine, over: others))
                entries[index].value = YAMLNode(position: entry.value.position, content: content)
            } else {
                entries[index] = entry
            }
        }
        return entries
    }

    // MARK: without

    private static func remove(_ node: YAMLNode, from entries: inout [YAMLNode.Entry], into problems: inout ProblemList)
    {
        guard case .sequence(let nodes) = node.content else {
            problems.add(
                node.position, "'without' expects a list of keys, such as '[writers.rate]', found \(node.description)")
            return
        }
        for node in nodes {
            guard case .scalar(let key, _) = node.content, removable.contains(key) else {
                let word = if case .scalar(let text, _) = node.content { text } else { "" }
                problems.add(
                    node.position,
                    "unknown key '\(Quantity.clipped(word))' \(Nearest.hint(for: word, among: removable))")
                continue
            }
            if !remove(Setting(rawValue: key)?.section, Setting(rawValue: key)?.key ?? key, from: &entries) {
                problems.add(node.position, "the extended file has no '\(key)' to remove (remove it from 'without')")
            }
        }
    }

    /// Removes a key from the file and its profiles.
    /// - Returns: whether the key was present.
    private static func remove(_ section: String?, _ key: String, from entries: inout [YAMLNode.Entry]) -> Bool {
        var isFound = false
        if section == nil, let index = entries.firstIndex(where: { $0.key == key }) {
            entries.remove(at: index)
            isFound = true
        }
        for index in entries.indices {
            guard case .mapping(var inside) = entries[index].value.content else { continue }
            if entries[index].key == section {
                let count = inside.count
                inside.removeAll { $0.key == key }
                isFound = isFound || inside.count < count
            } else if layered.contains(entries[index].key),
                !FileKey.sections.map(\.rawValue).contains(entries[index].key)
            {
                isFound = remove(section, key, from: &inside) || isFound
            }
            entries[index].value.content = .mapping(inside)
        }
        return isFound
    }
}

extension YAMLNode {
    /// Returns the tree with the file index of all positions set.
    fileprivate func moved(toFile file: Int) -> YAMLNode {
        var node = self
        node.position.file = file
        switch content {
        case .scalar, .refused: break
        case .sequence(let nodes): node.content = .sequence(nodes.map { $0.moved(toFile: file) })
        case .mapping(let entries):
            node.content = .mapping(
                entries.map { entry in
                    var position = entry.position
                    position.file = file
                    return Entry(key: entry.key, position: position, value: entry.value.moved(toFile: file))
                })
        }
        return node
    }
}
