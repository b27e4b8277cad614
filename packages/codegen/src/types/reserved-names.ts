/** The names that generated files import, declare or use, except those that come from models. */
export const reservedNames: ReadonlySet<string> = new Set(
  (
    "body data database kv limits models options tx where z " +
    "AnyDatabase Condition Database DatabaseOptions FieldOperation InFilter Kv KeyValue ListOptions ManyResult Model Models Page RowQuery " +
    "Rows Versioned createDatabase openModels openRepositories repositoriesOf rowsOf transaction " +
    "BetweenFilter Condition HasFilter InFilter StartsWithFilter OpenOptions OpenRepositories AbortSignal ReadableStream Repositories " +
    "ArrayBuffer BigInt64Array BigUint64Array Date Exclude Float32Array Float64Array Int16Array Int32Array Int8Array " +
    "Map NonNullable Omit Partial Promise Readonly ReadonlyMap ReadonlySet Record RegExp Set URL Uint16Array Uint32Array " +
    "Uint8Array Uint8ClampedArray"
  ).split(" "),
);
