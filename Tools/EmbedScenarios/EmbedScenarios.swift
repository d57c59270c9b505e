// Puts the text of every file of Scenarios/ into the program, which then knows them by name wherever it stands.
import Foundation
import PackagePlugin

@main struct EmbedScenarios: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let scenarios = root.appending(path: "Scenarios").path
        let names = (FileManager.default.enumerator(atPath: scenarios)?.compactMap { $0 as? String } ?? [])
            .filter { $0.hasSuffix(".yaml") || $0.hasSuffix(".txt") }.sorted().map { "Scenarios/\($0)" }
        let script = root.appending(path: "Tools/embed.sh")
        let output = context.pluginWorkDirectoryURL.appending(path: "EmbeddedScenarios.swift")
        return [
            .buildCommand(
                displayName: "Embedding \(names.count) scenario files", executable: URL(filePath: "/bin/sh"),
                arguments: [script.path, root.path, output.path] + names,
                inputFiles: [script] + names.map { root.appending(path: $0) }, outputFiles: [output])
        ]
    }
}
