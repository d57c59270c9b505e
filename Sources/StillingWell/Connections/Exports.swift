// Who imports the store has all of its public types, wherever they are declared.
@_exported import StillingWellTree
