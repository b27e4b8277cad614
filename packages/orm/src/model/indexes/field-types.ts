import type { KvKeyPart } from "@keywright/core";

/** A value of an index or a primary key. A date is stored as its milliseconds since 1970. */
export type KeyValue = KvKeyPart | Date;

/** Row → the names of its fields, without those that only a `catchall` allows. */
export type FieldOf<Row> = (string extends keyof Row ? KnownKey<Row> : keyof Row) & string;

type KnownKey<Row> = keyof {
  [F in keyof Row as string extends F ? never : number extends F ? never : F]: never;
};

/** Row → the names of the fields whose values a key can contain. Absent values do not count. */
export type KeyField<Row> = {
  [F in FieldOf<Row>]: NonNullable<Row[F]> extends KeyValue ? F : never;
}[FieldOf<Row>];

/** Row → the names of the fields that are arrays of values that a key can contain. */
export type ListField<Row> = {
  [F in FieldOf<Row>]: NonNullable<Row[F]> extends readonly KeyValue[] ? F : never;
}[FieldOf<Row>];

/** Row → the names of the fields that a primary key can consist of. No row may lack them. */
export type RequiredKeyField<Row> = {
  [F in FieldOf<Row>]: Row[F] extends KeyValue ? F : never;
}[FieldOf<Row>];

/** Row → the names of its fields whose values are numbers or bigints. */
export type SummableField<Row> = {
  [F in FieldOf<Row>]: NonNullable<Row[F]> extends number | bigint ? F : never;
}[FieldOf<Row>];

/** A value that a field can be compared with in the `where` of an index. */
export type ConditionValue = string | number | boolean | null;

/**
 * Row → the values that select rows: `{ deletedAt?: Date; done: boolean }` →
 * `{ deletedAt?: null; done?: boolean }`. Null selects the rows that lack the field.
 */
export type RowCondition<Row> = {
  readonly [F in FieldOf<Row>]?:
    | Extract<Row[F], ConditionValue>
    | (undefined extends Row[F] ? null : never);
};
