// Makes the public types of the tree module available to everyone who imports the store.
@_exported import StillingWellTree
