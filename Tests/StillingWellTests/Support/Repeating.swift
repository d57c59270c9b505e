/// Repeats `body` until `isSo` holds, at most `times` times. (A `for` loop with `where` would go on testing the
/// condition after it has held.)
func repeating(atMost times: Int, until isSo: () throws -> Bool, _ body: () throws -> Void) rethrows {
    for _ in 0..<times {
        if try isSo() { return }
        try body()
    }
}
