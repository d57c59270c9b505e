/// Repeats `body` until `isSo` holds, at most `times` times. (A `for` loop with `where` would test the condition up to
/// its end.)
func repeating(atMost times: Int, until isSo: () throws -> Bool, _ body: () throws -> Void) rethrows {
    for _ in 0..<times {
        if try isSo() { return }
        try body()
    }
}
