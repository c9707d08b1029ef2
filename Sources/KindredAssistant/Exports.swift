// A program that asks the assistant names clients, entities and relationships, too.
@_exported public import KindredPostgres
@_exported public import KindredSchema
