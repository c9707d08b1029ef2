// Its statements are those of the ground.
@_exported public import KindredDDL
// A program that asks for differences names clients, entities and relationships, too.
@_exported public import KindredPostgres
@_exported public import KindredSchema
