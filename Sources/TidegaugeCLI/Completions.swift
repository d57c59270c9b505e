// Shell completions, computed by the program itself.
import ArgumentParser
import Foundation
import TidegaugeSpec

enum Completions {
    static let drivers = CompletionKind.custom { _, _, _ in Drivers.names }
    static let settings = CompletionKind.custom { _, _, _ in Setting.allCases.map { $0.rawValue + "=" } }
    static let scenarioNames = CompletionKind.custom { _, _, _ in ScenarioPaths.library.names }
    /// Scenario names, and scenario files and folders in the folder that `prefix` begins with.
    static let scenarios = CompletionKind.custom { _, _, prefix in ScenarioPaths.library.names + paths(prefix) }

    /// Returns the folders and scenario files in the folder that `prefix` begins with: for `Scenarios/la`, all in
    /// `Scenarios/`.
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
