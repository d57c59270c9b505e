// Rows are told by the tree's types: whoever has the engine has those.
@_exported import StillingWellTree
