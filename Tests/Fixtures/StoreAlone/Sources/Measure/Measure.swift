/// A target of an application that is named as one of this package was.
public let name = "Measure"
