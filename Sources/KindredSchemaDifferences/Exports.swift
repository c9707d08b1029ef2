// Re-exported: the results hold statements of KindredDDL.
@_exported public import KindredDDL
// A program that asks for differences names clients, entities and relationships, too.
@_exported public import KindredPostgres
@_exported public import KindredSchema
