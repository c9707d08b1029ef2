// Types that are nested in the type they belong to.

/// The servers that answer the reads of a context, under their earlier name.
@available(*, deprecated, renamed: "DatabaseContext.Reading")
public typealias ContextReading = DatabaseContext.Reading

/// Whether a context follows changes, under its earlier name.
@available(*, deprecated, renamed: "DatabaseContext.Tracking")
public typealias ContextTracking = DatabaseContext.Tracking

/// How a process follows changes, under its earlier name.
@available(*, deprecated, renamed: "Tracking.Options")
public typealias TrackingOptions = Tracking.Options

/// One reason that an object cannot be saved, under its earlier name.
@available(*, deprecated, renamed: "KindredError.Problem")
public typealias ValidationProblem = KindredError.Problem

/// An object that another transaction has changed, under its earlier name.
@available(*, deprecated, renamed: "KindredError.Conflict")
public typealias VersionConflict = KindredError.Conflict

/// The names by which objects are written as JSON, under their earlier name.
@available(*, deprecated, renamed: "DatabaseObject.JSONKeys")
public typealias JSONKeys = DatabaseObject.JSONKeys

/// The value at a key of an object, under its earlier name.
@available(*, deprecated, renamed: "DatabaseObject.KeyValue")
public typealias KeyValue = DatabaseObject.KeyValue

/// The content assigned to a key, under its earlier name.
@available(*, deprecated, renamed: "DatabaseObject.PropertyContent")
public typealias PropertyContent = DatabaseObject.PropertyContent

/// One property of a typed class, under its earlier name.
@available(*, deprecated, renamed: "EntityMapping.Property")
public typealias PropertyMapping = EntityMapping.Property
