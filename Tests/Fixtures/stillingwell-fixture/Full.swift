// What a process does that runs out of room: a file that it may not let grow, or a small file system of its own, which
// nobody else sees and which goes with the process.
import Foundation
import StillingWell
import StillingWellFixtures

/// The C library's; its header hides it from Swift.
@_silgen_name("unshare")
private func unshare(_ flags: Int32) -> Int32

/// Sets how large a file this process may make, instead of a file system that is full.
func limitFiles(_ bytes: UInt) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    limit.rlim_cur = min(bytes, limit.rlim_max)
    guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { refuse("no limit can be set") }
}

/// Mounts a memory file system of this size at `path`, for this process only. Ends the process, saying `unavailable`,
/// where that is not allowed.
func mountSmall(_ path: String, kilobytes: Int) {
    let (newNamespace, newUser): (Int32, Int32) = (0x2_0000, 0x1000_0000)
    let (user, group) = (geteuid(), getegid())
    if unshare(newNamespace) != 0 {
        guard unshare(newNamespace | newUser) == 0 else { leave() }
        for (file, text) in [("setgroups", "deny"), ("uid_map", "0 \(user) 1"), ("gid_map", "0 \(group) 1")] {
            guard (try? text.write(toFile: "/proc/self/\(file)", atomically: false, encoding: .utf8)) != nil else {
                leave()
            }
        }
    }
    // What is mounted here must not show outside.
    guard mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0 else { leave() }
    guard mount("stillingwell", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else { leave() }
}

func enlarge(_ path: String, kilobytes: Int) {
    guard mount("stillingwell", path, "tmpfs", UInt(MS_REMOUNT), "size=\(kilobytes)k") == 0 else {
        refuse("the file system cannot be enlarged")
    }
}

private func leave() -> Never {
    say("unavailable")
    exit(0)
}

/// Inserts many batches at a time until there is no room for more, says what is left, and goes on with more room.
func fill(_ store: Store, makeRoom: () -> Void) throws {
    do {
        while true {
            let count = try store.write { connection in
                for _ in 0..<199 { try Batches.insert(connection) }
                return try Batches.insert(connection)
            }
            say("\(count)")
        }
    } catch {
        say("error \(error)")
    }
    say("left \(try store.read { try Batches.value("batches", $0) })")
    say(try store.read { try Batches.violation(from: 0, $0) } ?? "whole")
    makeRoom()
    say("then \(try store.write { try Batches.insert($0) })")
    say(try store.read { try Batches.violation(from: 0, $0) } ?? "whole")
}
