import type { Model } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";

export interface FoundModel {
  readonly model: CompiledModel;
  readonly definition: Model;
  readonly modulePath: string;
  /** `"default"` for the default export. */
  readonly exportName: string;
}

/** Returns the place where a model was found, for messages: `City in src/models/city.ts`. */
export function describeOrigin({ modulePath, exportName }: FoundModel): string {
  return `${exportName} in ${modulePath}`;
}
