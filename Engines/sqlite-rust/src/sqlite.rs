//! The few functions of libsqlite3 that the engine calls. An error is a panic with SQLite's text, which ends the
//! process in a release build (Cargo.toml).

use std::{collections::HashMap, ffi::CStr, ffi::CString, os::raw::*, ptr::null, ptr::null_mut};

#[link(name = "sqlite3")]
extern "C" {
    fn sqlite3_open(path: *const c_char, db: *mut *mut c_void) -> c_int;
    fn sqlite3_exec(db: *mut c_void, sql: *const c_char, row: *const c_void, context: *const c_void, error: *const c_void) -> c_int;
    fn sqlite3_prepare_v2(db: *mut c_void, sql: *const c_char, n: c_int, s: *mut *mut c_void, t: *mut *const c_char) -> c_int;
    fn sqlite3_bind_text(statement: *mut c_void, index: c_int, text: *const c_char, n: c_int, free: *const c_void) -> c_int;
    fn sqlite3_bind_parameter_count(statement: *mut c_void) -> c_int;
    fn sqlite3_step(statement: *mut c_void) -> c_int;
    fn sqlite3_reset(statement: *mut c_void) -> c_int;
    fn sqlite3_column_int64(statement: *mut c_void, column: c_int) -> i64;
    fn sqlite3_column_text(statement: *mut c_void, column: c_int) -> *const c_char;
    fn sqlite3_errmsg(db: *mut c_void) -> *const c_char;
}

/// A connection, used by one thread at a time.
pub struct Connection {
    db: *mut c_void,
    statements: HashMap<String, *mut c_void>,
}

unsafe impl Send for Connection {}

/// The current row of a statement.
pub struct Row(*mut c_void);

impl Row {
    pub fn number(&self, column: c_int) -> i64 {
        unsafe { sqlite3_column_int64(self.0, column) }
    }
    /// Null is an empty text.
    pub fn text(&self, column: c_int) -> String {
        let text = unsafe { sqlite3_column_text(self.0, column) };
        if text == null() { String::new() } else { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() }
    }
}

impl Connection {
    pub fn open(path: &str) -> Connection {
        let (mut db, name) = (null_mut(), CString::new(path).unwrap());
        assert!(unsafe { sqlite3_open(name.as_ptr(), &mut db) } == 0, "cannot open {path}");
        Connection { db, statements: HashMap::new() }
    }

    /// Runs one statement, prepared the first time, and returns what `read` makes of its rows.
    /// `text` replaces the parameter of the statement, if it has one.
    pub fn rows<T>(&mut self, sql: &str, text: &str, read: impl Fn(Row) -> T) -> Vec<T> {
        if !self.statements.contains_key(sql) {
            let (mut new, source) = (null_mut(), CString::new(sql).unwrap());
            self.check(unsafe { sqlite3_prepare_v2(self.db, source.as_ptr(), -1, &mut new, null_mut()) } == 0, sql);
            self.statements.insert(sql.to_string(), new);
        }
        let (statement, mut rows) = (self.statements[sql], vec![]);
        unsafe {
            if sqlite3_bind_parameter_count(statement) > 0 {
                // The text outlives the steps, so it is not copied. The next call binds another one before it steps.
                sqlite3_bind_text(statement, 1, text.as_ptr() as *const c_char, text.len() as c_int, null());
            }
            loop {
                match sqlite3_step(statement) {
                    100 => rows.push(read(Row(statement))),
                    code => break self.check(code == 101, sql),
                }
            }
            sqlite3_reset(statement);
        }
        rows
    }

    /// Runs any number of statements, and ignores their rows.
    pub fn run(&mut self, sql: &str) {
        let source = CString::new(sql).unwrap();
        self.check(unsafe { sqlite3_exec(self.db, source.as_ptr(), null(), null(), null()) } == 0, sql);
    }

    fn check(&self, is_right: bool, sql: &str) {
        assert!(is_right, "{:?} in '{sql}'", unsafe { CStr::from_ptr(sqlite3_errmsg(self.db)) });
    }
}
