import StillingWell
import Testing

/// Returns the text of the error that `body` must throw.
func refusal(_ body: () throws -> Void) -> String {
    let error = #expect(throws: StoreError.self) { try body() }
    return error.map { "\($0)" } ?? ""
}
