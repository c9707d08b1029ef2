// Importing Kindred gives the layers below it too: values, rows and raw SQL, and the schema's model.
@_exported public import KindredPostgres
@_exported public import KindredSchema
