// A profile with the kinds of lines that callgrind writes. `main` calls `work` twice and `idle`. `work` calls itself.

enum CallgrindSample {
    static let text = """
        # callgrind format
        version: 1
        creator: callgrind-3.19.0
        pid: 4711
        cmd:  ./program a=b c: d
        part: 2
        thread: 3

        desc: I1 cache: 32768 B
        desc: Timerange: Basic block 0 - 42
        desc: Trigger: Program termination

        positions: instr line
        events: Dr Ir Dw
        summary: 9 111 4

        ob=(1) /bin/program
        fl=(1) main.c
        fn=(1) main
        0x400 16 1 10 1
        fi=(2) inlined.h
        +4 +3 2 5
        fe=(1)
        * -2 0 1
        cob=(1)
        cfi=(3) work.c
        cfn=(2) work'main
        calls=2 0x500 1
        +8 * 3 90 2
        cfl=(3)
        cfn=(3) idle'main
        calls=1 +10 9
        -8 +1 1 3 1
        jump=4 +3 +2
        +1 +1
        jcnd=1/2 -3 *
        * *
        jfi=(4) far.c
        jfn=(5) far
        jump=1 0x900 1
        +1 *

        fl=(3)
        fn=(2)
        0x500 1 1 50
        cfn=(4) work'2'main
        calls=1 * *
        * * 1 40 1
        fn=(4)
        * +1 1 40 1

        fn=(3)
        * * 1 2 1
        fn=(5)
        +1 2 2 1
        fn=unnumbered
        0 0
        0 0 1 2

        totals: 9 111 4

        """

    static let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    /// Returns the text with one line, counted from 1, replaced or removed.
    static func replacing(_ line: Int, by new: String?) -> String {
        var lines = lines
        if let new { lines[line - 1] = new } else { lines.remove(at: line - 1) }
        return lines.joined(separator: "\n")
    }
}
