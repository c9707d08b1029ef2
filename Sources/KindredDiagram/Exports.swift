// A program that asks for diagrams names clients, entities and relationships, too.
@_exported public import KindredPostgres
@_exported public import KindredSchema
