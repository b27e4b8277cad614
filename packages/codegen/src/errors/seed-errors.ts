import { type ErrorClass, errorClass } from "./codegen-error.js";

/** Packages that `keywright seed` needs and the project does not have. */
export const SeedPackagesError: ErrorClass<{ packageNames: readonly string[] }> = errorClass(
  "KW_SEED_PACKAGES",
  ({ packageNames }) => ({
    text: `generated values come from ${packageNames.join(" and ")}, which the project does not have`,
    remedy: `install with \`npm install --save-dev ${packageNames.join(" ")}\``,
  }),
);
export type SeedPackagesError = InstanceType<typeof SeedPackagesError>;

/** A database that already has rows, of `models`. Nothing was written. */
export const SeedNotEmptyError: ErrorClass<{ models: readonly string[] }> = errorClass(
  "KW_SEED_NOT_EMPTY",
  ({ models }) => ({
    text: `the database is not empty: there are rows of ${models.join(", ")}`,
    remedy: "add rows to them with --append, or use another database",
  }),
);
export type SeedNotEmptyError = InstanceType<typeof SeedNotEmptyError>;

/**
 * A field for which no value was found that its schema accepts. `path` leads from the row to the
 * value, as in `address.zip`. It is empty for the row itself. `property` is the name of the model
 * in the setting `seed`.
 */
export const SeedFieldError: ErrorClass<
  { model: string; property: string; path: string; reason: string },
  { model: string; path: string; reason: string }
> = errorClass("KW_SEED_FIELD", ({ model, property, path, reason }) => {
  const [field = ""] = path.split(".");
  const place = field === "" ? "the fields that it compares" : "it";
  const setting = field === "" ? `seed.models.${property}` : `seed.models.${property}.${field}`;
  return {
    text: `${path === "" ? model : `${model}.${path}`}: no value can be generated: ${reason}`,
    remedy: `set ${place} in \`${setting}\` of the configuration, to a value or a function that returns one`,
    fields: { model, path, reason },
  };
});
export type SeedFieldError = InstanceType<typeof SeedFieldError>;

/** A reference that has no row to lead to. `target` is the name of the model that it refers to. */
export const SeedReferenceError: ErrorClass<
  {
    model: string;
    fields: readonly string[];
    target: { readonly model: string; readonly property: string; readonly isShared?: boolean };
  },
  { model: string; fields: readonly string[]; target: string }
> = errorClass("KW_SEED_REFERENCE", ({ model, fields, target }) => ({
  text: target.isShared
    ? `${model}.${fields.join(", ")}: no row of ${target.model} has the values that other references or the configuration give to these fields`
    : `${model}.${fields.join(", ")}: there is no row of ${target.model} to refer to`,
  remedy: target.isShared
    ? `let rows have the same values, by a function in \`seed.models.${target.property}\` of the configuration`
    : `also generate rows of it, as in \`--rows ${target.property}=10\`. If the two models refer to each other, make one of the references optional`,
  fields: { model, fields, target: target.model },
}));
export type SeedReferenceError = InstanceType<typeof SeedReferenceError>;

/**
 * A model for which `--rows` asks for more rows than there are different values. `index` is the
 * unique index, or `"primaryKey"`, and `count` is how many rows were generated.
 */
export const SeedUniqueError: ErrorClass<
  { model: string; index: string; count: number; requested: number },
  { model: string; index: string; count: number }
> = errorClass("KW_SEED_UNIQUE", ({ model, index, count, requested }) => ({
  text: `${model}: no value is left for ${
    index === "primaryKey" ? "its primary key" : `the unique index ${index}`
  } after ${count} of ${requested} rows`,
  remedy: "ask for fewer rows, or set its fields in `seed` of the configuration",
  fields: { model, index, count },
}));
export type SeedUniqueError = InstanceType<typeof SeedUniqueError>;
