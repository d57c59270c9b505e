/// A target of an application with a name that a target of this package must not have.
public let name = "Basis"
