import { NameUnusableError } from "../../../errors/codegen-errors.js";
import { NameClaims } from "../../../project/models/name-claims.js";
import { camelCase, isVariableName, propertyName } from "../../../types/identifiers.js";

/** The name of a parameter for an element of an array, for all arrays. */
const elementName = "element";

/** The names of the other parameters of generated methods. */
const otherParameters: ReadonlySet<string> = new Set([
  "data",
  elementName,
  "options",
  "versionstamp",
  "where",
]);

/**
 * Returns the names of the parameters for fields: the names of the fields, if these can be used.
 *
 * @param at the index or key that has the fields, for errors.
 * @param each the position of a field that is an array. Its parameter is one of the elements.
 * @throws {NameUnusableError} if no variable name can be made from the name of a field.
 * @throws {NameCollisionError} if two fields differ only in characters that an identifier cannot
 * contain.
 */
export function parameterNames(fields: readonly string[], at: string, each?: number): string[] {
  const claims = new NameClaims();
  return fields.map((field, position) => {
    if (position === each) return elementName;
    const owner = `the field ${JSON.stringify(field)} of ${at}`;
    return claims.claim(parameterName(field, owner), owner);
  });
}

/**
 * Returns the object with the values of parameters by field, as code: `{ id, "due at": dueAt }`.
 */
export function fieldsObject(fields: readonly string[], parameters: readonly string[]): string {
  const members = fields.map((field, position) => {
    const parameter = parameters[position];
    return field === parameter ? field : `${propertyName(field)}: ${parameter}`;
  });
  return `{ ${members.join(", ")} }`;
}

function parameterName(field: string, owner: string): string {
  if (isVariableName(field) && !otherParameters.has(field)) return field;
  const name = camelCase(field);
  if (isVariableName(name) && !otherParameters.has(name)) return name;
  const longer = `${name}Value`;
  if (name === "" || !isVariableName(longer)) {
    throw new NameUnusableError({ givenName: field, at: owner });
  }
  return longer;
}
