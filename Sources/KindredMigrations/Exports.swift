// A program that applies migrations names the client and the errors, too.
@_exported public import KindredPostgres
