// Objects as messages. One process writes a request and observes it, and another one puts the answer into it.
import Foundation
import StillingWell

public final class Request: StoredObject {
    public enum Status: Int { case new, running, done }

    @Stored(.primaryKey) public var id = UUID()
    @Stored public var text = ""
    @Stored public var status = Status.new.rawValue
    @Stored public var answer: String? = nil

    public convenience init(_ text: String) {
        self.init()
        self.text = text
    }
}

/// Answers new requests on its connection's thread. An answer is the reversed text.
public final class Responder {
    private let connection: Connection
    private var token: NotificationToken?

    /// Begins to observe. `failed` receives errors.
    public init(_ connection: Connection, failed: @escaping (any Error) -> Void) throws {
        self.connection = connection
        let new = try connection.objects(Request.self).where(\.status == Request.Status.new.rawValue)
        token = try new.observe { change in
            do {
                switch change {
                case .initial(let requests), .update(let requests, _): try Self.answer(requests, connection)
                case .error(let error): throw error
                }
            } catch {
                failed(error)
            }
        }
    }

    deinit { token?.invalidate() }

    private static func answer(_ requests: Results<Request>, _ connection: Connection) throws {
        guard !requests.isEmpty else { return }
        try connection.write {
            // Another process may have answered since this delivery.
            for request in requests where request.status == Request.Status.new.rawValue {
                request.answer = String(request.text.reversed())
                request.status = Request.Status.done.rawValue
            }
        }
    }
}
