// `tidegauge verify` and `tidegauge salvage`: find damage in a StillingWell file, and recover its undamaged objects.
// Exit code 0: no damage; 1: damage; 70: the file cannot be checked.
import ArgumentParser
import StillingWell

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Tell what of a StillingWell file is damaged, and which objects are whole.")

    @Argument(help: "The folder of a store that nobody has open.")
    var path: String

    func run() throws {
        let report = try Store.verify(path: path)
        print(report.text)
        if !report.isWhole { throw ExitCode(1) }
    }
}

struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage", abstract: "Write the whole objects of a damaged StillingWell file to a new store.")

    @Argument(help: "The folder of a store that nobody has open. It stays as it is.")
    var path: String

    @Argument(help: "A folder for the new store.")
    var folder: String

    func run() throws {
        let report = try Store.salvage(path: path, to: folder)
        print(report.text)
        print("what is whole was written to \(folder)")
        if !report.isWhole { throw ExitCode(1) }
    }
}

extension FileReport {
    private static let mostLines = 50

    fileprivate var text: String {
        var lines = tables.map { table in
            let damaged = table.damagedObjects.isEmpty ? "" : ", \(table.damagedObjects.count) damaged"
            return "\(table.name): \(table.wholeObjects) whole\(damaged)"
        }
        lines.append("version \(version), \(usedPages) pages in use, \(freePages) free")
        lines += damage.prefix(Self.mostLines).map { "damaged: \($0)" }
        if damage.count > Self.mostLines { lines.append("… and \(damage.count - Self.mostLines) more") }
        lines.append(isWhole ? "whole" : "\(damage.count) places are damaged")
        return lines.joined(separator: "\n")
    }
}
