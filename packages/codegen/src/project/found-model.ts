import type { Model } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";

/** A model and the place where it was found. */
export interface FoundModel {
  readonly model: CompiledModel;
  /** The result of `defineModel`. */
  readonly definition: Model;
  /** An absolute path. */
  readonly modulePath: string;
  /** `"default"` for the default export. */
  readonly exportName: string;
}

/** Returns the place where a model was found, for messages: `City in src/models/city.ts`. */
export function describeOrigin({ modulePath, exportName }: FoundModel): string {
  return `${exportName} in ${modulePath}`;
}
