// Floor plan of CONTRIBUTING.md: the order of targets and of their folders, and what breaks it.
import Foundation

/// Rooms from the bottom. A room sees itself and the rooms before it.
struct FloorPlan {
    /// A target, or a folder that has a row of its own.
    struct Room {
        /// Path below `Sources`.
        let name: String
        /// Number of the row's line in CONTRIBUTING.md, counted from 1.
        let line: Int
        /// Folders of the room that the row names, from the bottom.
        let folders: [String]
        /// Position in the order. Drivers share one.
        let rank: Int

        /// Name to import, if the room is a target.
        var module: String { name.hasPrefix("Drivers/") ? "Tidegauge\(name.dropFirst(8))Driver" : name }
    }

    let rooms: [Room]

    static let ofContributing = FloorPlan(
        try! String(contentsOfFile: "\(Module.root)/CONTRIBUTING.md", encoding: .utf8), modules: Module.all)

    init(_ text: String, modules: [Module]) {
        let folders = Set(modules.flatMap(\.files).map(\.folder))
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = lines.firstIndex { $0.hasPrefix("## Floor plan") } ?? lines.endIndex
        let end = lines[start...].dropFirst().firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex
        var rooms: [Room] = []
        for line in start..<end where lines[line].hasPrefix("| `") {
            let cells = lines[line].split(separator: "|")
            let named = cells.dropFirst().flatMap { Self.spans($0) }
            for span in Self.spans(cells[0]) {
                let members = span == "Drivers/…" ? modules.map(\.name).filter { $0.hasPrefix("Drivers/") } : [span]
                let rank = rooms.count
                rooms += members.map { name in
                    Room(
                        name: name, line: line + 1, folders: named.filter { folders.contains("Sources/\(name)/\($0)") },
                        rank: rank)
                }
            }
        }
        self.rooms = rooms
    }

    private static func spans(_ cell: Substring) -> [String] {
        cell.matches(of: #/`([^`]+)`/#).map { String($0.output.1) }
    }

    /// Complaints about imports of rooms above the module, and about imports of the harness's C modules outside of it.
    func wrongImports(_ module: Module) -> [String] {
        guard let own = rooms.first(where: { $0.name == module.name }) else { return [] }
        let isHarness = ["tidegauge", "drivers/"].contains(where: module.name.lowercased().hasPrefix)
        return module.files.flatMap { file in
            file.imports.compactMap { name, line in
                let room = rooms.first { $0.module == name }
                guard room.map({ $0.rank > own.rank }) ?? (!isHarness && name.hasPrefix("CTidegauge")) else {
                    return nil
                }
                return
                    "\(file.path):\(line + 1): imports \(name), which \(module.name) may not see by the floor plan of "
                    + "CONTRIBUTING.md: move the code, or what it needs"
            }
        }
    }

    /// Complaints about types of a folder that a folder below it names, as far as rows of the table name the folders.
    /// - Parameter allowed: pairs of folders, the lower one first, that are left out.
    func wrongReferences(_ module: Module, except allowed: [[String]] = []) -> [String] {
        let own = rooms.filter { $0.name == module.name || $0.name.hasPrefix("\(module.name)/") }
        let order = own.flatMap { room in ["Sources/\(room.name)"] + room.folders.map { "Sources/\(room.name)/\($0)" } }
        let isWithin = { (file: SourceFile, folder: String) in file.path.hasPrefix("\(folder)/") }
        let ranks = module.files.map { file in
            order.indices.filter { isWithin(file, order[$0]) }.max { order[$0].count < order[$1].count }
        }
        var complaints: [String] = []
        for (index, others) in module.references.enumerated() {
            for other in others.sorted() {
                guard let low = ranks[index], let high = ranks[other], low < high,
                    !allowed.contains([order[low], order[high]])
                else { continue }
                let (file, types) = (module.files[index], module.files[other].types)
                let line = file.firstLine(naming: types)
                complaints.append(
                    "\(file.path):\(line + 1): names \(file.words.intersection(types).sorted().joined(separator: ", ")) of "
                        + "\(order[high]), which stands above \(order[low]) in the floor plan of CONTRIBUTING.md: "
                        + "move one of both")
            }
        }
        return complaints
    }

    /// Complaints about folders that a row leaves out although it names others of the same room.
    func unnamedFolders(_ module: Module) -> [String] {
        rooms.filter { $0.name == module.name || $0.name.hasPrefix("\(module.name)/") }.flatMap { room in
            let own = rooms.filter { $0.name.hasPrefix("\(room.name)/") }.map { "Sources/\($0.name)" }
            let known = room.folders.map { "Sources/\(room.name)/\($0)" } + own
            guard !room.folders.isEmpty else { return [String]() }
            return Set(module.files.map(\.folder)).filter { folder in
                folder.hasPrefix("Sources/\(room.name)/") && !known.contains { "\(folder)/".hasPrefix("\($0)/") }
            }.sorted().map {
                "CONTRIBUTING.md:\(room.line): the row names folders of \(room.name), but not \($0): add it"
            }
        }
    }
}

extension SourceFile {
    var folder: String { String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)) }

    /// Modules that are imported, with their lines, counted from 0.
    var imports: [(module: String, line: Int)] {
        places(of: "import ").compactMap { _, line in
            lines[line].prefixMatch(
                of:
                    #/\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+\s+)?import\s+(?:(?:struct|class|enum|protocol|typealias|func|let|var)\s+)?(\w+)/#
            ).map { (String($0.output.1), line) }
        }
    }

    /// The first line, counted from 0, whose code has one of these words, or 0 if there is none.
    func firstLine(naming words: Set<String>) -> Int {
        code.split(separator: "\n", omittingEmptySubsequences: false).firstIndex { line in
            line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.contains { words.contains(String($0)) }
        } ?? 0
    }

    /// Last lines, counted from 0, of doc comments that no declaration follows.
    static func orphanComments(_ lines: [Substring]) -> [Int] {
        lines.indices.filter { line in
            guard lines[line].isDocComment, line + 1 == lines.endIndex || !lines[line + 1].isDocComment else {
                return false
            }
            return line + 1 == lines.endIndex || lines[line + 1].prefixMatch(of: declarationStart) == nil
        }
    }

    nonisolated(unsafe) private static let declarationStart =
        #/\s*(?:@\w|#if|(?:public|package|internal|private|fileprivate|open|final|static|class|struct|enum|protocol|actor|extension|func|var|let|init|deinit|subscript|case|typealias|associatedtype|indirect|mutating|nonmutating|consuming|borrowing|nonisolated|override|convenience|required|lazy|weak|unowned|prefix|postfix|infix|operator|isolated|import|macro)\b)/#
}

extension Substring {
    fileprivate var isDocComment: Bool { drop { $0 == " " }.hasPrefix("///") }
}
