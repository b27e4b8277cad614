declare const reason: unique symbol;

/**
 * A type that no value has, in whose place something was written that cannot be. Its name and its message, which says
 * what to do, are what the compiler shows.
 */
interface Refused<Message extends string> {
  readonly [reason]: Message;
}

/** No index has keys that begin with these fields, in some order, and are sorted as the query asks for. */
export interface NoIndexServes<_Fields, Message extends string> extends Refused<Message> {}

/** A query that says nothing of the rows that it means. */
export interface ReadsWholeTable<Message extends string> extends Refused<Message> {}

/** Fields by which not one row at the most is found. */
export interface NamesNoRow<_Fields, Message extends string> extends Refused<Message> {}

/** A condition that is none. */
export interface NoCondition<Message extends string> extends Refused<Message> {}

/** A name that is none of the schema's fields. */
export interface UnknownField<_Name, Message extends string> extends Refused<Message> {}

/** A name that is no option. */
export interface UnknownOption<_Name, Message extends string> extends Refused<Message> {}

/** A name that is none of the model's relations. */
export interface UnknownRelation<_Name, Message extends string> extends Refused<Message> {}

/** An index that contradicts its schema or itself. */
export interface IndexCannotBe<_Part, Message extends string> extends Refused<Message> {}

/** A field that cannot hold what a relation has to put there: another model's primary key, or nothing. */
export interface CannotHold<_Field, Message extends string> extends Refused<Message> {}

/** A relation to a model or to fields that are not there. */
export interface LeadsNowhere<_Name, Message extends string> extends Refused<Message> {}
