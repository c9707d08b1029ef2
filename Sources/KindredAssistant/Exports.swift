// The whole assistant under one name.
@_exported public import KindredDiagram
@_exported public import KindredDoctor
@_exported public import KindredModelImport
@_exported public import KindredSchemaDifferences
