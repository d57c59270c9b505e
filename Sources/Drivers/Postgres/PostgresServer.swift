// A server of the trial's own: a cluster in the trial's folder, reached by a Unix socket or by TCP. It ends with the
// trial, however the trial ends. It needs no root. PostgreSQL refuses root, so under root it runs as user `postgres`.
import CTidegaugePostgres
import Foundation
import StillingWellBasis
import TidegaugeDriver

/// Started by `init`, ended by `stop()`. Used by one thread at a time. The server ends with the thread that started it.
final class PostgresServer {
    private static let startSeconds = 30.0
    private static let stopSeconds = 5.0
    /// Maximum length of a socket path in bytes, without the terminating 0.
    private static let longestSocketPath = 107
    private static let user = "tidegauge"

    /// libpq options for connections.
    let options: [(String, String)]
    /// Password for connections from other hosts; nil if these cannot connect.
    let password: String?
    /// Process ID of the server's main process, the parent of its other processes.
    private(set) var process: Int32
    private var child: Process
    /// Path and arguments of the server's program.
    private let command: (program: String, arguments: [String])
    private let log: String
    private let account: ServerAccount?
    /// Folder of the socket if the trial's folder has too long a path; removed with the server.
    private let shortFolder: PrivateFolder?

    /// Makes a cluster in `directory`, and starts its server.
    /// - Parameters:
    ///   - reachedAt: address at which a server over TCP also accepts connections from other hosts.
    ///   - settings: more settings of the server, as `name=value`.
    /// - Throws: `DriverUnavailable`, `PostgresError`, `PrivateFolder.Failure`, or the error of a file operation.
    init(
        in directory: String, _ durability: DurabilityLevel, over transport: ServerConfiguration.Transport = .unix,
        reachedAt: String? = nil, settings: [String] = []
    ) throws {
        let programs = try Self.programs()
        // The working directory of its processes differs, so the path must be absolute.
        let directory = URL(fileURLWithPath: directory).path
        account = geteuid() == 0 ? try ServerAccount(named: "postgres") : nil
        let data = directory + "/cluster"
        log = directory + "/server.log"
        try Self.makeFolder(data, for: account)
        try account?.open(wayTo: directory)
        let sockets: String
        (sockets, shortFolder) = try Self.socketFolder(directory, account)
        guard FileManager.default.createFile(atPath: log, contents: nil) else {
            throw PostgresError("the log file of the server cannot be created", in: log)
        }
        let guests = transport == .tcp && reachedAt != nil ? try Guests(directory, account) : nil
        password = guests?.password

        let initdb = try Self.start(
            "\(programs)/initdb",
            ["-D", data, "-U", Self.user, "-A", "trust", "-N", "--no-instructions", "--locale=C", "-E", "UTF8"]
                + (guests == nil ? [] : ["--pwfile", guests!.file]), log, account)
        initdb.waitUntilExit()
        guard initdb.terminationStatus == 0 else { throw Self.failure("initdb failed", log, account) }
        try guests?.admit(to: data)

        let port = transport == .tcp ? try Self.freePort() : Self.socketPort
        let addresses = transport == .tcp ? [Self.loopback] + (reachedAt.map { [$0] } ?? []) : []
        let words =
            ["listen_addresses=\(addresses.joined(separator: ","))", "port=\(port)"]
            + Self.words(durability) + settings
        command = ("\(programs)/postgres", ["-D", data, "-k", sockets] + words.flatMap { ["-c", $0] })
        child = try Self.start(command.program, command.arguments, log, account)
        process = child.processIdentifier
        options = [
            ("host", transport == .tcp ? Self.loopback : sockets), ("port", "\(port)"), ("user", Self.user),
            ("dbname", "postgres"),
        ]
        try awaitReady()
    }

    private static let loopback = "127.0.0.1"
    private static let socketPort: UInt16 = 5432

    /// Returns a port that is free now. If another process takes it before the server starts, the server reports that.
    private static func freePort() throws -> UInt16 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(loopback)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else {
            throw DriverUnavailable("no port of \(loopback) can be had for the server (errno \(errno))")
        }
        return UInt16(bigEndian: address.sin_port)
    }

    /// Ends the server as an upgrade would, and starts it again on the same cluster. Returns when it accepts
    /// connections. Call it on the thread that started the server.
    func restart() throws {
        end()
        child = try Self.start(command.program, command.arguments, log, account)
        process = child.processIdentifier
        try awaitReady()
    }

    /// Returns settings with which a power cut loses no commit (`full`), the last ones (`relaxed`), or possibly all.
    private static func words(_ durability: DurabilityLevel) -> [String] {
        switch durability {
        case .full: ["fsync=on", "synchronous_commit=on"]
        case .relaxed: ["fsync=on", "synchronous_commit=off"]
        case .memory: ["fsync=off", "synchronous_commit=off"]
        }
    }

    private func awaitReady() throws {
        let deadline = Date(timeIntervalSinceNow: Self.startSeconds)
        while true {
            let (keys, values) = (options.map(\.0), options.map(\.1))
            let answer = PostgresConnection.withCStrings(keys) { keys in
                PostgresConnection.withCStrings(values) { PQpingParams(keys, $0, 0) }
            }
            if answer == PQPING_OK { return }
            if !child.isRunning || deadline.timeIntervalSinceNow < 0 {
                stop()
                throw Self.failure("the server does not get ready", log, account)
            }
            usleep(5_000)
        }
    }

    /// Stops the server: by a fast shutdown, or by killing it after 5 s.
    func stop() {
        end()
        shortFolder?.remove()
    }

    private func end() {
        kill(process, SIGINT)
        let deadline = Date(timeIntervalSinceNow: Self.stopSeconds)
        while child.isRunning, deadline.timeIntervalSinceNow > 0 { usleep(2_000) }
        if child.isRunning { kill(process, SIGKILL) }
        child.waitUntilExit()
    }

    // MARK: Programs and folders

    /// Returns the folder of the server's programs: from the PATH, otherwise the newest of Debian's.
    static func programs() throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let debian = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: debian)) ?? []).compactMap { Int($0) }
        let folders = path.split(separator: ":").map(String.init) + versions.sorted(by: >).map { "\(debian)/\($0)/bin" }
        let found = folders.first { folder in
            ["postgres", "initdb"].allSatisfy { FileManager.default.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
        if let found { return found }
        throw DriverUnavailable(
            "there is no PostgreSQL server on this machine (neither in the PATH nor in \(debian)): `make servers` installs it"
        )
    }

    private static func makeFolder(_ path: String, for account: ServerAccount?) throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        try account?.give(path)
    }

    /// Returns a folder in the trial's folder, or a temporary one if the path would be too long.
    private static func socketFolder(
        _ directory: String, _ account: ServerAccount?
    ) throws -> (path: String, short: PrivateFolder?) {
        let near = directory + "/s"
        if fits(near) {
            try makeFolder(near, for: account)
            return (near, nil)
        }
        let short = try PrivateFolder()
        guard fits(short.path) else {
            throw DriverUnavailable(
                "\(short.path): the path of a socket there has more than \(longestSocketPath) bytes; "
                    + "have the system keep temporary files in a folder of a shorter one")
        }
        try account?.give(short.path)
        return (short.path, short)
    }

    private static func fits(_ folder: String) -> Bool {
        folder.utf8.count + "/.s.PGSQL.5432.lock".utf8.count <= longestSocketPath
    }

    /// Starts a program that ends with the thread that starts it.
    private static func start(_ program: String, _ arguments: [String], _ log: String, _ account: ServerAccount?) throws
        -> Process
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments = ["--pdeathsig", "QUIT"] + (account?.words ?? []) + ["--", program] + arguments
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle.nullDevice
        let output = FileHandle(closedOnExec: log, O_WRONLY)
        _ = try output?.seekToEnd()
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = output ?? FileHandle.nullDevice
        do { try process.run() } catch {
            throw DriverUnavailable("\(program) cannot be started by setpriv (of util-linux): \(error)")
        }
        return process
    }

    private static func failure(_ what: String, _ log: String, _ account: ServerAccount?) -> DriverUnavailable {
        let said = ((try? String(contentsOfFile: log, encoding: .utf8)) ?? "").split(separator: "\n").suffix(4)
        let remedy =
            account == nil
            ? ""
            : "; it runs as user postgres, who has to reach the folder: give --out one that all may enter, or run as another user"
        return DriverUnavailable("PostgreSQL: \(what): \(said.joined(separator: "; "))\(remedy)")
    }
}

/// Access for other hosts: a password that is made for one trial.
private struct Guests {
    let password: String
    /// File from which `initdb` reads the password; removed afterwards.
    let file: String

    init(_ directory: String, _ account: ServerAccount?) throws {
        var random = SystemRandomNumberGenerator()
        password = (0..<4).map { _ in String(random.next(), radix: 36) }.joined()
        file = directory + "/password"
        let isMade = FileManager.default.createFile(
            atPath: file, contents: Data(password.utf8), attributes: [.posixPermissions: 0o600])
        guard isMade else { throw DriverUnavailable("\(file): a password for the server cannot be written") }
        try account?.give(file)
    }

    /// Allows password logins from hosts. Local connections need no password, as the first lines of the file state.
    func admit(to cluster: String) throws {
        try FileManager.default.removeItem(atPath: file)
        guard let rules = FileHandle(closedOnExec: cluster + "/pg_hba.conf", O_WRONLY) else {
            throw DriverUnavailable("\(cluster)/pg_hba.conf: cannot be written")
        }
        try rules.seekToEnd()
        try rules.write(
            contentsOf: Data("host all all all scram-sha-256\nhost replication all all scram-sha-256\n".utf8))
        try rules.close()
    }
}

/// The user that the server runs as if this process is root.
private struct ServerAccount {
    private let user: uid_t
    private let group: gid_t

    init(named name: String) throws {
        guard let entry = getpwnam(name) else {
            throw DriverUnavailable(
                "PostgreSQL does not run as root, and there is no user \(name): `make servers` installs the server with one"
            )
        }
        (user, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
    }

    /// Arguments of setpriv.
    var words: [String] { ["--reuid", "\(user)", "--regid", "\(group)", "--clear-groups"] }

    func give(_ path: String) throws {
        guard chown(path, user, group) == 0 else {
            throw DriverUnavailable("\(path): cannot be given to the server's user (errno \(errno))")
        }
    }

    /// Gives all users execute permission on the folder and its parent, if this process's user owns them, so that the
    /// server's user can enter them. It gives no read permission.
    func open(wayTo directory: String) throws {
        for path in [directory, (directory as NSString).deletingLastPathComponent] {
            var status = stat()
            guard stat(path, &status) == 0, status.st_uid == geteuid() else { continue }
            _ = chmod(path, status.st_mode & 0o7777 | 0o011)
        }
    }
}
