// What a shell offers behind Tab: the program is asked, so that it is what this program has.
import ArgumentParser
import Foundation
import TidegaugeSpec

enum Completions {
    static let drivers = CompletionKind.custom { _, _, _ in Drivers.names }
    static let settings = CompletionKind.custom { _, _, _ in Setting.allCases.map { $0.rawValue + "=" } }
    static let scenarioNames = CompletionKind.custom { _, _, _ in ScenarioPaths.library.names }
    /// Names, and the files and folders that `prefix` leads to.
    static let scenarios = CompletionKind.custom { _, _, prefix in ScenarioPaths.library.names + paths(prefix) }

    /// `Scenarios/la` → `Scenarios/latency/`: what a scenario may stand in, or be.
    private static func paths(_ prefix: String) -> [String] {
        let folder = prefix.lastIndex(of: "/").map { String(prefix[...$0]) } ?? ""
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? "." : folder)) ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted().compactMap { name in
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: folder + name, isDirectory: &isFolder) else { return nil }
            return isFolder.boolValue ? "\(folder)\(name)/" : name.hasSuffix(".yaml") ? folder + name : nil
        }
    }
}
