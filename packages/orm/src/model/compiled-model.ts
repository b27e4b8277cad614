import type { KvKeyPart } from "@keywright/core";
import type * as z from "zod";
import type { Relation } from "./relation-definition.js";

/** A row, whatever its model. */
export type AnyRow = Readonly<Record<string, unknown>>;

/** One part of an index's key. */
export interface CompiledPart {
  /** By which queries name it: a field of the schema, or the index's own name where it is computed. */
  readonly field: string;
  /** Sorted from the last value to the first. */
  readonly descending: boolean;
  readonly compute: ((row: AnyRow) => unknown) | undefined;
  /** Maps a value of the field to what is indexed; undefined where that is the value itself. */
  readonly normalize: ((value: unknown) => KvKeyPart) | undefined;
}

/** An index as the code that maintains it sees it. */
export interface CompiledIndex {
  readonly name: string;
  readonly prefix: string;
  readonly parts: readonly CompiledPart[];
  /** The names of the parts. */
  readonly fields: readonly string[];
  readonly unique: boolean;
  /** Which of the parts is an array, with an entry for each of its elements; undefined where none is. */
  readonly each: number | undefined;
  /** The rows that it holds; undefined for all that have its fields. */
  readonly where: ((row: AnyRow) => boolean) | undefined;
  /** What an entry holds: the primary key, the row, or the fields of `include`. */
  readonly store: "pointer" | "copy" | "include";
  /** The fields that an entry holds where it holds some, the primary key's first. */
  readonly include: readonly string[];
  /** The number of rows is kept for each key. */
  readonly counted: boolean;
  /** What stands for the source of its functions; undefined where the source itself does. */
  readonly version: string | undefined;
}

/** A model as the code that reads and writes its rows sees it. */
export interface CompiledModel {
  readonly name: string;
  /** The first part of its rows' keys; in Keywright's own keys too, so that a model may get another name. */
  readonly prefix: string;
  readonly schema: z.ZodObject;
  readonly primaryKey: readonly string[];
  /** The primary key is one `z.ulid()`, which `create` generates where it is absent. */
  readonly generatesId: boolean;
  readonly indexes: readonly CompiledIndex[];
  readonly relations: Readonly<Record<string, Relation>>;
  /** The fields of indexes that a row may lack: it is not in an index then. */
  readonly optionalFields: ReadonlySet<string>;
  /**
   * The other fields of indexes that are to hold every row, each with the name of such an index: a write without one of them
   * is refused, for queries would miss the row.
   */
  readonly requiredFields: ReadonlyMap<string, string>;
  /** The number of rows is kept. */
  readonly counted: boolean;
  /** A record of changes is kept. */
  readonly live: boolean;
}

/** The first part of the keys that are Keywright's own. */
export const ownPrefix = "__keywright";
