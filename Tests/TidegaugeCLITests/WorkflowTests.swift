// Tests of the parts of the CI set-up that can run here: the comment under a pull request, and the workflow of
// Docs/ci.md.
import Foundation
import Testing

@Suite struct WorkflowTests {
    @Test(
        "A pull request has one comment, found again by its marker",
        .enabled("there is no python3, curl or jq") {
            (try? Python.run(["-c", "import shutil; assert shutil.which('curl') and shutil.which('jq')"]).status) == 0
        })
    func comment() throws {
        let tools = repository + "/Tools"
        let ran = try Python.run(["\(tools)/sticky_comment_test.py", "\(tools)/sticky-comment.sh"])
        #expect(ran.status == 0 && ran.output == "one comment, whatever stands around it\n", "\(ran.output)")
    }

    @Test("The workflow to copy is short, and names what the action takes")
    func copied() throws {
        let document = try String(contentsOfFile: repository + "/Docs/ci.md", encoding: .utf8)
        let action = try String(contentsOfFile: repository + "/.github/actions/compare/action.yml", encoding: .utf8)
        let blocks = document.components(separatedBy: "```yaml\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
        let workflow = try #require(blocks.first { $0.contains("/.github/actions/compare@") })
        let lines = workflow.split(separator: "\n")
        #expect(lines.count <= 22)
        let given = lines.drop { !$0.hasSuffix("with:") || $0.contains("{") }.dropFirst()
            .map { $0.split(separator: ":")[0].trimmingCharacters(in: .whitespaces) }
        #expect(given.count > 3)
        for name in given { #expect(action.contains("\n  \(name):\n    description: "), "\(name)") }
    }
}
