// A program that imports models names clients, too.
@_exported public import KindredPostgres
