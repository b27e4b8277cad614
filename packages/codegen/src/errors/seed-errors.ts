import { CodegenError } from "./codegen-errors.js";

/** Packages that `keywright seed` needs and the project does not have. */
export class SeedPackagesError extends CodegenError {
  readonly packageNames: readonly string[];

  constructor(packageNames: readonly string[]) {
    const names = packageNames.join(" ");
    super(
      "KW_SEED_PACKAGES",
      `generated values come from ${packageNames.join(" and ")}, which the project does not have; install with \`npm install --save-dev ${names}\``,
    );
    this.packageNames = packageNames;
  }
}

/** A database that already has rows. Nothing was written. */
export class SeedNotEmptyError extends CodegenError {
  /** The models that have rows. */
  readonly models: readonly string[];

  constructor(models: readonly string[]) {
    super(
      "KW_SEED_NOT_EMPTY",
      `the database is not empty: there are rows of ${models.join(", ")}; add rows to them with --append, or use another database`,
    );
    this.models = models;
  }
}

/** A field for which no value was found that its schema accepts. */
export class SeedFieldError extends CodegenError {
  readonly model: string;
  /** The path from the row to the value, as in `address.zip`. Empty for the row itself. */
  readonly path: string;
  readonly reason: string;

  /** @param property the name of the model in the setting `seed`. */
  constructor(model: string, property: string, path: string, reason: string) {
    const [field = ""] = path.split(".");
    const place = field === "" ? "the fields that it compares" : "it";
    const setting = field === "" ? `seed.models.${property}` : `seed.models.${property}.${field}`;
    super(
      "KW_SEED_FIELD",
      `${path === "" ? model : `${model}.${path}`}: no value can be generated: ${reason}; set ${place} in \`${setting}\` of the configuration, to a value or a function that returns one`,
    );
    this.model = model;
    this.path = path;
    this.reason = reason;
  }
}

/** A reference that has no row to lead to. */
export class SeedReferenceError extends CodegenError {
  readonly model: string;
  readonly fields: readonly string[];
  /** The model to which the fields refer. */
  readonly target: string;

  constructor(
    model: string,
    fields: readonly string[],
    target: { readonly model: string; readonly property: string; readonly isShared?: boolean },
  ) {
    const place = `${model}.${fields.join(", ")}`;
    super(
      "KW_SEED_REFERENCE",
      target.isShared
        ? `${place}: no row of ${target.model} has the values that other references or the configuration give to these fields; let rows have the same values, by a function in \`seed.models.${target.property}\` of the configuration`
        : `${place}: there is no row of ${target.model} to refer to; also generate rows of it, as in \`--rows ${target.property}=10\`. If the two models refer to each other, make one of the references optional`,
    );
    this.model = model;
    this.fields = fields;
    this.target = target.model;
  }
}

/** A model for which `--rows` asks for more rows than there are different values. */
export class SeedUniqueError extends CodegenError {
  readonly model: string;
  /** The unique index, or `"primaryKey"`. */
  readonly index: string;
  /** How many rows were generated. */
  readonly count: number;

  constructor(model: string, index: string, count: number, requested: number) {
    const key = index === "primaryKey" ? "its primary key" : `the unique index ${index}`;
    super(
      "KW_SEED_UNIQUE",
      `${model}: no value is left for ${key} after ${count} of ${requested} rows; ask for fewer rows, or set its fields in \`seed\` of the configuration`,
    );
    this.model = model;
    this.index = index;
    this.count = count;
  }
}
