import { TypeInexpressibleError } from "../errors/codegen-errors.js";
import { type Alternatives, textOf } from "./alternatives.js";
import { pascalCase } from "./identifiers.js";
import { deepest } from "./is-optional.js";
import { objectProperties, type Property } from "./object-type.js";
import type { Place } from "./place.js";
import { referredType, type Side } from "./reference.js";
import { renamed, type TypeNames } from "./type-names.js";
import { typeOf } from "./type-of.js";
import type { Definition, Schema, Writer } from "./writer.js";

/** A schema of an object. */
export type ObjectSchema = Schema & { readonly _zod: { readonly def: Definition<"object"> } };

/** A field whose type was spelled out, and could be referred to. */
export interface SpelledField {
  readonly side: Side;
  /** The fields that lead to it, its own name at the end. */
  readonly path: readonly string[];
  readonly type: string;
  /** Its type as a reference. */
  readonly reference: string;
}

/** What is to be written, and how. */
export interface WriterOptions {
  readonly side: Side;
  /** The name of the model, for errors. */
  readonly model: string;
  /** Begins the names of recursive types. */
  readonly baseName: string;
  readonly names: TypeNames;
  /** References that stand instead of types, though these could be spelled out. */
  readonly referred: ReadonlySet<string>;
  /** What is written for `any`. */
  readonly any: "any" | "unknown";
}

/** Why there is no type of a schema that never stops. */
export const withoutEnd =
  "it has no end: let its getter return the same schema each time, declared as a constant";

/** A schema whose type is being written. */
interface OpenType {
  readonly path: readonly string[];
  /** Given when the schema is met again within itself. */
  name?: string;
}

/**
 * Spells out the types of schemas. What a schema does not tell at run time, such as the result of a transform, becomes
 * a reference at the nearest place that a type can refer to. What is known at compile time alone, such as brands, does not
 * show: the compiler says where it is, and `referred` names those places.
 */
export class TypeWriter implements Writer {
  readonly side: Side;
  readonly any: "any" | "unknown";
  /** Whether a type written so far refers to the model's schema. */
  hasReferences = false;
  readonly #options: WriterOptions;
  readonly #names = new Map<Schema, string>();
  readonly #open = new Map<Schema, OpenType>();
  #fields: SpelledField[] = [];
  #rowName: string | undefined;
  #isRecursive = false;

  constructor(options: WriterOptions) {
    this.side = options.side;
    this.any = options.any;
    this.#options = options;
  }

  /**
   * The properties of a row; undefined where they cannot be written.
   *
   * @param name of the type that is made of them, where the schema contains itself.
   */
  rowProperties(schema: ObjectSchema, place: Place, name: string): readonly Property[] | undefined {
    this.#rowName = name;
    this.#names.set(schema, name);
    return objectProperties(this, schema._zod.def, place);
  }

  /** The fields written so far, those within others before them. */
  get fields(): readonly SpelledField[] {
    return this.#fields;
  }

  /** Whether the schema of the row contains itself. */
  get isRecursive(): boolean {
    return this.#isRecursive;
  }

  writeField(schema: Schema, place: Place): Alternatives | undefined {
    const [reference] = this.#referenceTo(place);
    if (reference !== undefined && this.#options.referred.has(reference)) return this.refer(place);
    const type = this.write(schema, place);
    if (type === undefined) return this.refer(place);
    if (reference !== undefined) {
      this.#fields.push({ side: this.side, path: place.path, type: textOf(type), reference });
    }
    return type;
  }

  write(schema: Schema | undefined, place: Place): Alternatives | undefined {
    if (schema === undefined) {
      throw this.fault(place, "it is undefined: do two modules import each other?");
    }
    if (schema._zod === undefined) throw this.fault(place, "it is not a schema of Zod 4");
    const name = this.#names.get(schema);
    if (name === this.#rowName && name !== undefined) this.#isRecursive = true;
    if (name !== undefined) return [name];
    const outer = this.#open.get(schema);
    if (outer !== undefined) {
      outer.name ??= this.#newName(outer.path);
      return [outer.name];
    }
    if (this.#open.size > deepest) {
      throw this.fault({ ...place, path: place.path.slice(0, 3) }, withoutEnd);
    }
    return this.#writeNew(schema, place);
  }

  refer(place: Place): Alternatives | undefined {
    const type = this.#referenceTo(place);
    if (type.length === 0) return undefined;
    this.hasReferences = true;
    return type;
  }

  isName(member: string): boolean {
    return this.#isOpen(member) || [...this.#names.values()].includes(member);
  }

  mayBeUndefined(member: string): boolean {
    if (this.#isOpen(member)) return true;
    const type = this.#options.names.typeOf(member) ?? [member];
    return type.some(
      (part) =>
        part === "undefined" ||
        part === "unknown" ||
        part === "any" ||
        (part !== member && this.isName(part) && this.mayBeUndefined(part)),
    );
  }

  fault({ path }: Place, reason: string, cause?: unknown): TypeInexpressibleError {
    return new TypeInexpressibleError(this.#options.model, path.join("."), reason, cause);
  }

  #writeNew(schema: Schema, place: Place): Alternatives | undefined {
    const { names } = this.#options;
    const open: OpenType = { path: place.path };
    const [namesBefore, fieldsBefore] = [names.declared.length, this.#fields.length];
    this.#open.set(schema, open);
    const type = typeOf(this, schema, place);
    this.#open.delete(schema);
    if (type === undefined) {
      // The types within it may name it, and it will have no declaration.
      this.#forget(names.forget(namesBefore));
      this.#fields.length = fieldsBefore;
      return undefined;
    }
    if (open.name === undefined) return type;
    // Types within it that were declared may name it.
    const isAlone = names.declared.length === namesBefore;
    const name = names.declare(open.name, type, isAlone);
    if (name !== open.name) this.#rename(open.name, name, fieldsBefore);
    this.#names.set(schema, name);
    return [name];
  }

  #isOpen(member: string): boolean {
    return [...this.#open.values()].some(({ name }) => name === member);
  }

  /** The reference to a place, as the one member of its type; none where no type leads to it. */
  #referenceTo({ reference }: Place): string[] {
    return reference === undefined ? [] : [referredType(reference, this.side)];
  }

  #newName(path: readonly string[]): string {
    const suffix = this.side === "input" ? "Input" : "";
    return this.#options.names.claim(
      this.#options.baseName + path.map(pascalCase).join(""),
      suffix,
    );
  }

  /** Fields within a type that turned out to have another name. */
  #rename(name: string, other: string, fieldsBefore: number): void {
    const within = this.#fields.splice(fieldsBefore);
    this.#fields.push(
      ...within.map((field) => ({ ...field, type: renamed(field.type, name, other) })),
    );
  }

  #forget(forgotten: ReadonlySet<string>): void {
    for (const [schema, name] of this.#names) {
      if (forgotten.has(name)) this.#names.delete(schema);
    }
  }
}
