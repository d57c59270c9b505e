// Tests of the link to an agent, with a shell in its place.
import Foundation
import Testing
import TidegaugeSpec

@testable import TidegaugeTrial
@testable import TidegaugeTrialRunner

@Suite(.serialized) struct HostLinkTests {
    /// Returns a host on which a shell replaces the agent. The agent's words are the shell's parameters.
    private func host(_ script: String) -> HostEntry { HostEntry(name: "b", run: ["/bin/sh", "-c", script]) }

    /// Returns shell words that print a frame.
    private func saying(_ frame: HostFrame) -> String {
        "printf '" + frame.bytes.map { String(format: "\\%03o", $0) }.joined() + "'"
    }

    private func refusal(_ script: String, binarySHA: String? = nil) throws -> String {
        let link = try HostLink(host(script))
        defer { link.end() }
        let error = #expect(throws: TrialFault.self) { try link.awaitHello(binarySHA: binarySHA) }
        return error?.description ?? ""
    }

    private var hello: HostHello { HostHello(binarySHA: "aa", clock: .current(), cores: 2) }

    @Test func anAgentThatIsOneIsTaken() throws {
        let link = try HostLink(host("\(saying(try HostFrame(.hello, hello))); read line"))
        #expect(try link.awaitHello(binarySHA: "aa") == hello)
        link.end()
    }

    @Test func whatIsNoAgentIsNamedWithTheRemedy() throws {
        let greeting = try refusal("echo Welcome to b; read line")
        #expect(greeting.hasPrefix("host: 'b': it said a frame of") && greeting.contains("ssh -T"), "\(greeting)")
        let gone = try refusal("echo 'Permission denied (publickey).' >&2; exit 255")
        #expect(gone.contains("its agent has ended (exit status 255)") && gone.contains("Permission denied"), "\(gone)")
        let cut = try refusal("printf '\\012\\000\\000\\000\\001{'")
        #expect(cut.contains("'b'") && cut.contains("a frame was cut"), "\(cut)")
        let unreadable = try refusal(saying(HostFrame(kind: .hello, payload: Array("{}".utf8))))
        #expect(unreadable.contains("'b'") && unreadable.contains("cannot be read"), "\(unreadable)")
        let early = try refusal(saying(HostFrame(kind: .ready)))
        #expect(early.contains("it sent 'ready' in place of 'hello'"), "\(early)")
    }

    @Test func anotherBinaryIsNamedWithTheRemedy() throws {
        var old = hello
        old.specVersion = 1
        let version = try refusal(saying(try HostFrame(.hello, old)), binarySHA: "aa")
        #expect(version.contains("specs of version 1") && version.contains("copy this binary there"), "\(version)")
        let other = try refusal(saying(try HostFrame(.hello, hello)), binarySHA: "bb")
        #expect(other.contains("another one (SHA-256 aa, here bb)") && other.contains("'binary'"), "\(other)")
        var silent = hello
        silent.binarySHA = nil
        let unknown = try refusal(saying(try HostFrame(.hello, silent)), binarySHA: "bb")
        #expect(unknown.contains("SHA-256 unknown"), "\(unknown)")
    }

    @Test func whoSaysNothingIsGivenUp() throws {
        let link = try HostLink(host("read line"))
        defer { link.end() }
        let error = #expect(throws: TrialFault.self) { try link.expect(.hello, withinNs: 10_000_000) }
        #expect(error?.description == "host: 'b': it has not sent 'hello' for 10 ms")
    }

    @Test func whoFallsSilentIsNamedWithTheTime() throws {
        let station = HostStation(try HostLink(host("read line")), writers: 0..<1, .tiny())
        defer { station.link.end() }
        try station.checkSilence(mostNs: .max)
        let error = #expect(throws: TrialFault.self) { try station.checkSilence(mostNs: -1) }
        #expect(
            error?.description.hasPrefix("host: 'b': it has said nothing for 0 ms: the host or the way there is gone")
                == true)
    }

    @Test func aCommandThatIsNotThereIsNamed() throws {
        let error = #expect(throws: TrialFault.self) { try HostLink(HostEntry(name: "b", run: ["no-such-command"])) }
        #expect(error?.description.contains("'b': the PATH has no 'no-such-command'") == true)
    }
}
