// Runs gnuplot, once for all pictures of a page. Where it is missing or fails, each picture says so and the page is whole
// without them.
import Foundation
import Measure

/// Draws with the `gnuplot` on the PATH.
public struct Gnuplot: PlotDrawing {
    private static let timeoutNs: Int64 = 60_000_000_000

    private let executable: String?

    public init() {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        executable = folders.map { "\($0)/gnuplot" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// A `gnuplot` at a place of its own.
    init(executable: String?) { self.executable = executable }

    public func draw(_ scripts: [String]) -> [PlotPicture] {
        guard !scripts.isEmpty else { return [] }
        guard let executable else {
            return scripts.map { _ in
                .missing("gnuplot is not installed: install it (Debian: gnuplot-nox), then run tidegauge report")
            }
        }
        let drawn: PrivateFolder
        let folder: String
        do {
            drawn = try PrivateFolder()
            folder = drawn.path
            let whole = scripts.enumerated().map { index, script in "set output '\(index).svg'\n\(script)" }
            let head = "set encoding utf8\nset terminal svg size 420,270 fixed font 'sans-serif,12'\n"
            try Data((head + whole.joined() + "unset output\n").utf8).write(to: URL(fileURLWithPath: folder + "/all"))
            _ = try Subprocess.run(
                executable, ["all"], in: folder, output: .discarded, errors: .discarded, timeoutNs: Self.timeoutNs)
        } catch {
            return scripts.map { _ in .missing("gnuplot could not be run: \(error)") }
        }
        defer { drawn.remove() }
        return scripts.indices.map { index in
            let text = try? String(contentsOfFile: "\(folder)/\(index).svg", encoding: .utf8)
            return text.flatMap { SVGTheme.themed($0).map { .svg($0) } }
                ?? .missing("gnuplot drew nothing here: try another version of it, then tidegauge report")
        }
    }
}
