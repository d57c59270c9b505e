// `tidegauge verify` and `tidegauge recover`: find damage in a StillingWell file, and recover its undamaged objects.
// Exit code 0: no damage; 1: damage; 64: a path is wrong or the store is open; 70: other errors.
import ArgumentParser
import Foundation
import StillingWell

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "List the damage of a StillingWell file, and count its undamaged objects.")

    @Argument(help: "Folder of a store that no process has open.")
    var path: String

    func validate() throws { try requireStore(path) }

    func run() throws {
        let report = try refusingOpenStores { try Store.verify(path: path) }
        print(report.text)
        if !report.isWhole { throw ExitCode(1) }
    }
}

struct RecoverCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Write the undamaged objects of a StillingWell file to a new store.",
        aliases: ["salvage"])

    @Argument(help: "Folder of a store that no process has open. It stays unchanged.")
    var path: String

    @Argument(help: "Folder of the new store.")
    var folder: String

    func validate() throws {
        try requireStore(path)
        guard !holdsStore(folder) else {
            throw ValidationError("\(folder): a store exists there; name another folder, or remove it")
        }
    }

    func run() throws {
        let report = try refusingOpenStores { try Store.salvage(path: path, to: folder) }
        print(report.text)
        print("undamaged objects were written to \(folder)")
        if !report.isWhole { throw ExitCode(1) }
    }
}

private func holdsStore(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path + "/data.mdb") }

private func requireStore(_ path: String) throws {
    if !holdsStore(path) { throw ValidationError("\(path): there is no store; correct the path") }
}

/// Converts the error of an open store to a message and exit code 64.
private func refusingOpenStores<Value>(_ body: () throws -> Value) throws -> Value {
    do {
        return try body()
    } catch let error as StoreError {
        if case .storeInUse = error { throw ValidationError("\(error)") }
        throw error
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
