// Embeds text files, so that the program needs no other file. A target with a folder `Pages` gets its files as
// `PageTexts`. Any other target gets the scenarios with their traces as `EmbeddedScenarios`, and each `drivers.txt` as
// `EmbeddedDrivers`.
import Foundation
import PackagePlugin

@main struct TidegaugeEmbedTexts: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let package = context.package.directoryURL
        let pages = target.directoryURL.appending(path: "Pages")
        return FileManager.default.fileExists(atPath: pages.path)
            ? [embed(["css", "html", "js"], of: pages, "", as: "PageTexts", context)]
            : [
                embed(["txt", "yaml"], of: package, "Scenarios/", as: "EmbeddedScenarios", context),
                embed(["txt"], of: package, "Sources/Drivers/", as: "EmbeddedDrivers", context),
            ]
    }

    /// Embeds the files below a folder of `root`, each by its path from `root`.
    private func embed(
        _ extensions: [String], of root: URL, _ folder: String, as name: String, _ context: PluginContext
    ) -> Command {
        let all = FileManager.default.enumerator(atPath: root.appending(path: folder).path)
        let files = (all?.compactMap { $0 as? String } ?? [])
            .filter { extensions.contains(($0 as NSString).pathExtension) }.sorted().map { folder + $0 }
        let script = context.package.directoryURL.appending(path: "Tools/embed.sh")
        let output = context.pluginWorkDirectoryURL.appending(path: "\(name).swift")
        return .buildCommand(
            displayName: "Embedding \(files.count) files as \(name)", executable: URL(filePath: "/bin/sh"),
            arguments: [script.path, root.path, output.path, name] + files,
            inputFiles: [script] + files.map { root.appending(path: $0) }, outputFiles: [output])
    }
}
