import { NameUnusableError } from "../../errors/codegen-errors.js";
import { NameClaims } from "../../project/name-claims.js";
import { camelCase, isVariableName } from "../../types/identifiers.js";

/** What an element of an array is called, whatever the array is. */
const elementName = "element";

/** The other parameters of generated methods. */
const otherParameters: ReadonlySet<string> = new Set(["data", elementName, "options", "where"]);

/**
 * What the parameters for some fields are called: as the fields are, where they can be.
 *
 * @param at whose key the fields are, for errors.
 * @param each the place of a field that is an array, whose parameter is one of its elements.
 * @throws {NameUnusableError} for a field without letters.
 * @throws {NameCollisionError} for two fields that differ only in what an identifier cannot hold.
 */
export function parameterNames(fields: readonly string[], at: string, each?: number): string[] {
  const claims = new NameClaims();
  return fields.map((field, position) => {
    if (position === each) return elementName;
    const owner = `the field ${JSON.stringify(field)} of ${at}`;
    return claims.claim(parameterName(field, owner), owner);
  });
}

function parameterName(field: string, owner: string): string {
  if (isVariableName(field) && !otherParameters.has(field)) return field;
  const name = camelCase(field);
  if (isVariableName(name) && !otherParameters.has(name)) return name;
  const longer = `${name}Value`;
  if (name === "" || !isVariableName(longer)) throw new NameUnusableError(field, owner);
  return longer;
}
