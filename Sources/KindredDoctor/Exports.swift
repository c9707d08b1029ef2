// A program that asks for findings names clients, entities and relationships, too.
@_exported public import KindredPostgres
@_exported public import KindredSchema
