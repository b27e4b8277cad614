declare const reason: unique symbol;

/** A type without values. The compiler shows its name and its message, which says what to do. */
interface Refused<Message extends string> {
  readonly [reason]: Message;
}

/** No index has keys that begin with these fields and are sorted as the query requires. */
export interface NoIndexServes<_Fields, Message extends string> extends Refused<Message> {}

/** A query that does not restrict the rows that it reads. */
export interface ReadsWholeTable<Message extends string> extends Refused<Message> {}

/** Fields that may find more than one row. */
export interface NamesNoRow<_Fields, Message extends string> extends Refused<Message> {}

/** A value that is not a valid condition. */
export interface NoCondition<Message extends string> extends Refused<Message> {}

/** No index maintains these aggregates for these fields. */
export interface NoAggregateServes<_Fields, Message extends string> extends Refused<Message> {}

/** An index that does not maintain how many rows lie between two keys. */
export interface NotRanked<_Index, Message extends string> extends Refused<Message> {}

/** A name that is not a field of the schema. */
export interface UnknownField<_Name, Message extends string> extends Refused<Message> {}

/** A name that is not an option. */
export interface UnknownOption<_Name, Message extends string> extends Refused<Message> {}

/** An operation on related rows that the relation does not permit. */
export interface CannotWriteNested<Message extends string> extends Refused<Message> {}

/** A name that is not a relation of the model. */
export interface UnknownRelation<_Name, Message extends string> extends Refused<Message> {}

/** An index that contradicts its schema or itself. */
export interface IndexCannotBe<_Part, Message extends string> extends Refused<Message> {}

/** A field that cannot hold the primary key of another model, or null or undefined. */
export interface CannotHold<_Field, Message extends string> extends Refused<Message> {}

/** A field that cannot mark deleted rows. */
export interface CannotMark<_Field, Message extends string> extends Refused<Message> {}

/** A model whose deleted rows are removed and not marked. */
export interface NoSoftDelete<Message extends string> extends Refused<Message> {}

/** Fields that do not make a scope of any model. */
export interface NotScopable<_Fields, Message extends string> extends Refused<Message> {}

/** A relation to a model or to fields that do not exist. */
export interface LeadsNowhere<_Name, Message extends string> extends Refused<Message> {}

/** A computed field that no row can have. */
export interface CannotCompute<_Field, Message extends string> extends Refused<Message> {}

/** A field in data that is computed or copied. */
export interface NotStored<_Field, Message extends string> extends Refused<Message> {}

/** A program that is compiled without `strictNullChecks`. */
export interface NeedsStrictNullChecks<Message extends string> extends Refused<Message> {}
