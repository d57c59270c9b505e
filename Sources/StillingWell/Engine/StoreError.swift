// Errors of a store and their descriptions.
import Glibc
import StillingWellSync

/// An error of a store. Most descriptions contain a remedy.
public enum StoreError: Error, Sendable, Hashable {
    /// The file or folder cannot be used as a store.
    case cannotOpen(path: String, reason: String)
    /// The stored schema and the models in the configuration disagree.
    case schemaMismatch(table: String, reason: String)
    /// The file was made by a program whose models have a higher version.
    case schemaTooNew(path: String, file: UInt64, configured: UInt64)
    /// The store is open, and must not be. `process` has it open; nil if that is unknown.
    case storeInUse(path: String, process: Int32?)
    /// The store's files were moved, removed or replaced while it was open.
    case replaced(path: String)
    /// A migration to a higher schema version needs exclusive access to the store.
    case migrationNeedsAll(path: String, file: UInt64, configured: UInt64)
    /// A migration block asked for something impossible, such as a property that does not exist.
    case migrationMisuse(reason: String)
    /// The storage engine has no room for more tables.
    case tooManyTables(limit: Int)
    /// The model class cannot be stored as it is declared.
    case invalidModel(type: String, reason: String)
    /// The model class is not among `Store.Configuration.models`.
    case unknownModel(type: String)
    /// An object with this primary key exists already.
    case duplicatePrimaryKey(table: String, key: String)
    /// The encoding of a primary key is longer than the storage engine's limit.
    case primaryKeyTooLong(table: String, bytes: Int, limit: Int)
    /// A string or data is longer than a value can be.
    case valueTooLong(table: String, bytes: Int, limit: Int)
    /// The file system is full. Nothing of the transaction was stored; the store stays usable.
    case diskFull(path: String)
    /// The address space reserved for the store is used up.
    case mapFull(limitBytes: Int)
    /// The limit of open snapshots is reached.
    case tooManySnapshots(limit: Int)
    /// An element of a sequence does not hold its version any more, because too many newer ones hold theirs.
    case versionReleased(version: UInt64)
    /// An entry in the file is damaged. `object` is set if the entry is that object's row. `table` is nil if the entry
    /// is of the change log or a large value.
    case damaged(path: String, table: String?, object: ObjectID?, what: String)
    /// The storage engine failed in a way that no other case names.
    case storage(operation: String, code: Int32, reason: String)
    /// A write was begun inside a write block.
    case writeInsideWrite
    /// An operation that needs a write block was attempted outside of one.
    case notInWrite
    /// A write block was ended on another thread than it runs on.
    case writeOnOtherThread
    /// The write lock was not granted in time.
    case writeTimedOut(after: Duration)
    /// A thread that the call needs cannot be started.
    case noThread(reason: String)
    /// No descriptors are left for the run loop of a thread.
    case noDescriptors(thread: String)
    /// The handle was opened by the process that this one was forked from.
    case openedBeforeFork(path: String)
    /// The object's row does not exist any more.
    case invalidatedObject(table: String)
    /// A frozen object or connection was used for a change.
    case frozen
    /// A value was to be frozen inside a write block.
    case freezeInWrite
    /// An object, a reference or a frozen value of the store at `path` was used with the store at `used`.
    case otherStore(path: String, used: String)
    /// An object was given where one of another class is needed. Each class has its own table.
    case otherClass(type: String, expected: String)
    /// A filter follows more consecutive links and lists than supported.
    case filterTooDeep(links: Int, limit: Int)
    /// A primary key was looked up by a value of another type than the keys of the class.
    case otherKeyType(table: String, type: String, expected: String)
    /// A primary key is needed, and the class has none.
    case noPrimaryKey(table: String)
    /// A property that does not exist was named, or a value was given that the property cannot have.
    case invalidValue(property: String, reason: String)
    /// A stored value is invalid for the property's type, such as a case that a newer program has added.
    case unknownValue(property: String, type: String, value: String)
    /// A reference is newer than the version that the block reads.
    case referenceTooNew(version: UInt64, connection: UInt64)
    /// A link was set to an object of another connection.
    case otherConnection(type: String)
    /// `observe` was called on a connection without a delivery context.
    case noScheduler
    /// `.runLoop` was requested on a thread without a running run loop, such as a worker thread of a queue.
    case noRunLoop(place: String)
    /// A connection was requested on a queue that runs several blocks at once.
    case concurrentQueue(label: String)
    /// A connection was requested from another delivery context than its own.
    case connectedElsewhere(site: String, caller: String)
    /// `observe` was called on an object inside a write block.
    case observedInWrite
    /// An operation for stored objects was called on an object that is not stored.
    case notStored(type: String)
    /// A token of another store was named in `withoutNotifying`.
    case foreignToken
    /// The text of a query cannot be read. `text` is the line, `line` and `column` count from 1.
    case invalidQuery(text: String, line: Int, column: Int, reason: String)
    /// A trace of the store's use cannot be recorded.
    case cannotRecord(path: String, reason: String)
    /// The store has been closed.
    case closed
}

extension StoreError {
    /// Starts a thread of the store.
    /// - Throws: `noThread`.
    static func starting(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreError)
        -> TracedThread
    {
        do throws(ThreadError) {
            return try TracedThread(starting: name, body)
        } catch {
            throw .noThread(reason: "\(error)")
        }
    }
}

extension StoreError {
    /// Whether reads fail again with this error until the store is reopened. False for a limit: reads succeed once
    /// there is room.
    var endsReading: Bool {
        guard case .storage(_, let code, _) = self else { return false }
        return ![ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR].contains(code)
    }

    /// Whether the storage engine failed in a way without a case of its own, or the file is damaged.
    var isOfFile: Bool {
        switch self {
        case .storage, .damaged: true
        default: false
        }
    }
}

extension StoreError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "cannot open the store at \(path): \(reason)"
        case .schemaMismatch(let table, let reason): "the stored table '\(table)' does not fit its model: \(reason)"
        case .schemaTooNew(let path, let file, let configured):
            "the store at \(path) has schema version \(file), and this program knows \(configured): update the "
                + "program, or correct Store.Configuration.schemaVersion"
        case .storeInUse(let path, let process):
            "the store at \(path) is open in \(StoreError.name(process)): close it, here and in other processes, and let go of "
                + "its connections, objects and tokens first"
        case .replaced(let path):
            "the store at \(path) was moved, removed or replaced while it was open, and what is written to it now is lost: close it, "
                + "let go of its connections, objects and tokens, and open it again"
        case .migrationNeedsAll(let path, let file, let configured):
            "the store at \(path) is to go from schema version \(file) to \(configured), and another process has it "
                + "open: end that process, then open the store again"
        case .migrationMisuse(let reason): "the migration was given up and the file is as it was: \(reason)"
        case .tooManyTables(let limit):
            "the models need more than the \(limit) tables of the storage engine: use fewer models or indexes"
        case .invalidModel(let type, let reason): "\(type) cannot be stored: \(reason)"
        case .unknownModel(let type): "\(type) is not a model of this store: add it to Store.Configuration.models"
        case .duplicatePrimaryKey(let table, let key):
            "'\(table)' has an object with primary key \(key) already: look it up with object(_:forPrimaryKey:) and "
                + "change that one, or delete it first"
        case .primaryKeyTooLong(let table, let bytes, let limit):
            "a primary key of '\(table)' takes \(bytes) bytes as it is stored; the limit is \(limit): use a shorter key"
        case .valueTooLong(let table, let bytes, let limit):
            "a value of '\(table)' has \(bytes) bytes; the limit is \(limit): split it, or keep it in a file and store its name"
        case .diskFull(let path):
            "the file system of \(path) is full: nothing of this transaction was stored; free some space and retry"
        case .mapFull(let limit):
            "the store has reached its limit of \(limit) bytes: open it with a larger Store.Configuration.mapBytes"
        case .tooManySnapshots(let limit):
            "\(limit) snapshots are open at once: close connections, or release frozen collections, that are not needed"
        case .versionReleased(let version):
            "the element at version \(version) has given its version back, because too many newer ones hold theirs: "
                + "use its rows before more elements are taken, or keep what they return"
        case .damaged(let path, let table, _, let what):
            "the store at \(path) is damaged: \(what)\(table.map { " of '\($0)'" } ?? "") is not what was stored; "
                + "restore it from a backup, or write what is whole to a new store with Store.salvage (other objects can be read)"
        case .storage(let operation, let code, let reason): "storage failed in \(operation): \(reason) (\(code))"
        case .writeInsideWrite:
            "write was called inside a write block of the same thread: make the change in the outer block"
        case .notInWrite: "stored objects change inside a write block only: wrap the change in connection.write { }"
        case .writeOnOtherThread:
            "a write block ends on the thread that it runs on: call commitWrite or cancelWrite on that thread, or begin the "
                + "write with beginWrite, which any block of the connection's queue may end"
        case .writeTimedOut(let duration):
            "another writer held the write lock for \(duration): retry, or raise the time-out"
        case .noThread(let reason):
            "\(reason), and retry"
        case .noDescriptors(let thread):
            "no descriptors are left for the run loop of \(thread): close files, or raise the limit of open files (ulimit -n), and "
                + "retry"
        case .openedBeforeFork(let path):
            "the store at \(path) was opened before this process was forked: open it again in the child"
        case .invalidatedObject(let table):
            "the object of '\(table)' has been deleted: check isInvalidated before changing it"
        case .frozen:
            "frozen objects do not change: thaw(on: connection) gives the live object, which can be written to"
        case .freezeInWrite: "a write block has no version yet: freeze before it, or after it has returned"
        case .otherStore(let path, let used):
            "this belongs to the store at \(path), and was used with the store at \(used): use it with its own store, "
                + "or look up the other store's object by its primary key"
        case .otherClass(let type, let expected):
            "an object of \(type) was given where one of \(expected) is needed: each class has a table of its own, so "
                + "use an object of \(expected) itself"
        case .filterTooDeep(let links, let limit):
            "the filter looks over \(links) links or lists, one behind the other; the limit is \(limit): nest fewer "
                + "conditions on linked objects"
        case .otherKeyType(let table, let type, let expected):
            "primary keys of '\(table)' are of type \(expected), and one of type \(type) was looked up: convert it"
        case .noPrimaryKey(let table):
            "'\(table)' has no primary key to look objects up by: mark a property with @Stored(.primaryKey), or filter"
        case .invalidValue(let property, let reason): "\(property) cannot be set: \(reason)"
        case .unknownValue(let property, let type, let value):
            "\(property) is stored as \(value), which no \(type) is: another version of the program may have written it; "
                + "give \(type) such a value, have init(stored:) make another one of it, or migrate the file"
        case .referenceTooNew(let version, let connection):
            "the reference was made at version \(version) and this block reads version \(connection): resolve it in a "
                + "block that begins later, or on a live connection"
        case .otherConnection(let type):
            "a \(type) of another connection cannot be linked to: look it up on this one, by its primary key"
        case .noScheduler:
            "a store.read or store.write block has nowhere to deliver to: open a connection that stays, with "
                + "store.connect(on:) and .main, .runLoop, .queue(queue) or .actor(self); RunLoopThread makes a "
                + "thread that has a run loop"
        case .noRunLoop(let place):
            "nothing could be delivered on \(place), because no run loop turns there: connect on the queue itself "
                + "(.queue(queue)), on an actor (.actor(self)), on the main queue (.main), or on a thread with a run "
                + "loop, which RunLoopThread makes"
        case .concurrentQueue(let label):
            "queue '\(label)' runs several blocks at once, and a connection is used by one at a time: use a serial "
                + "queue, such as DispatchQueue(label:target:) with this one as its target"
        case .connectedElsewhere(let site, let caller):
            "a connection of \(site) was asked for on \(caller): call connect there, inside a block of it"
        case .observedInWrite:
            "an object is observed outside of write blocks: call observe after the write has been committed"
        case .notStored(let type): "an object of \(type) is in no store yet: add it in a write block first"
        case .foreignToken:
            "withoutNotifying names a token of another store: pass tokens of the store that is written to"
        case .invalidQuery(let text, let line, let column, let reason):
            "cannot read the query at \(line):\(column): \(reason)\n\(StoreError.excerpt(text, column: column))"
        case .cannotRecord(let path, let reason):
            "cannot record to \(path): \(reason); choose a file that can be written, on a disk with room"
        case .closed: "the store has been closed: open it again"
        }
    }

    private static func name(_ process: Int32?) -> String {
        guard let process else { return "another process" }
        return process == getpid() ? "this process" : "process \(process)"
    }

    /// The part of a line around a column, with a caret under the column.
    private static func excerpt(_ line: String, column: Int) -> String {
        let scalars = Array(line.unicodeScalars)
        let start = max(0, column - 61)
        let part = scalars[min(start, scalars.count)..<min(start + 100, scalars.count)]
        func text(_ part: ArraySlice<Unicode.Scalar>) -> String {
            var shown = String.UnicodeScalarView()
            for scalar in part { shown.append(scalar.value < 0x20 ? " " : scalar) }
            return String(shown)
        }
        let width = text(part.prefix(column - 1 - start)).reduce(0) { $0 + $1.columns }
        return "    \(text(part))\n    \(String(repeating: " ", count: width))^"
    }
}

extension Character {
    /// Columns that a terminal uses for the character: two for emoji and for East Asian characters.
    fileprivate var columns: Int {
        let wide: [ClosedRange<UInt32>] = [
            0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE4F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1_F300...0x1_F64F, 0x1_F900...0x1_F9FF, 0x2_0000...0x3_FFFD,
        ]
        let isWide = unicodeScalars.contains { scalar in
            scalar.value == 0xFE0F || scalar.properties.isEmojiPresentation
                || wide.contains { $0.contains(scalar.value) }
        }
        return isWide ? 2 : 1
    }
}
