import type * as z from "zod";
import type { Fakes } from "./fakes.js";
import { UnfillableError } from "./unfillable-error.js";

export type Schema = z.core.$ZodType;
export type Check = z.core.$ZodCheck<never>;

/** The definition of a schema or a check of any type. Each type has some of the properties. */
export interface Definition {
  readonly type: string;
  readonly check?: string;
  readonly checks?: readonly Check[];
  readonly coerce?: boolean;
  readonly format?: string;
  readonly pattern?: RegExp;
  readonly value?: unknown;
  readonly inclusive?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly length?: number;
  readonly size?: number;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly includes?: string;
  readonly version?: string;
  readonly precision?: number | null;
  readonly local?: boolean;
  readonly alg?: string;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly element?: Schema;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly partial?: boolean;
  readonly items?: readonly Schema[];
  readonly rest?: Schema | null;
  readonly options?: readonly Schema[];
  readonly left?: Schema;
  readonly right?: Schema;
  readonly innerType?: Schema;
  readonly in?: Schema;
  readonly out?: Schema;
}

/** A value to generate: where it is, and how often that was tried. */
export interface Place {
  readonly fakes: Fakes;
  /** The name of the model, which tells the kind of its `name` or `title`. */
  readonly model: string;
  /** The fields and positions that lead from the row to the value. */
  readonly path: readonly (string | number)[];
  /** How many attempts failed before, from 0. Later attempts are less plausible and more varied. */
  readonly attempt: number;
  /** How many lists, objects and the like are around the value. */
  readonly depth: number;
  /** True if an optional value must not be absent. */
  readonly isPresent: boolean;
  /** How many decimals a number has at most, if an aggregate of the model limits them. */
  readonly decimals?: number | undefined;
}

/** From this depth on, values are as small as their schema allows. */
const plainDepth = 4;
/** A schema that is deeper contains itself, and nothing in it is optional. */
const maxDepth = 40;

export function isDeep({ depth }: Place): boolean {
  return depth >= plainDepth;
}

/** Returns the place of a value in a list, an object or the like. */
export function placeIn(place: Place, step: string | number): Place {
  const { depth, path, decimals: _, ...rest } = place;
  if (depth >= maxDepth)
    throw new UnfillableError(path, "the schema contains itself without an end");
  return { ...rest, path: [...path, step], depth: depth + 1, isPresent: false };
}

export function definitionOf(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}

/** Returns the definitions of all checks of a value, including that of its own format. */
export function checksOf(def: Definition): readonly Definition[] {
  const checks = (def.checks ?? []).map((check) => check._zod.def as unknown as Definition);
  return def.check === undefined ? checks : [def, ...checks];
}
