import { decodeKey } from "@keywright/core";
import { RowInvalidError, UniqueConstraintError } from "@keywright/orm";
import type { StudioError } from "../protocol/studio-error.js";
import { isCorruption } from "./known-damage.js";
import { keyOfId } from "./row-key.js";
import type { Source } from "./source.js";

/** Returns an error as the page shows it. */
export function studioError(source: Source, error: unknown): StudioError {
  const message = error instanceof Error ? error.message : String(error);
  const { code } = (error ?? {}) as { readonly code?: unknown };
  const isKeywright = typeof code === "string" && code.startsWith("KW_");
  const issues = error instanceof RowInvalidError ? error.issues : [];
  return {
    code: isKeywright ? code : null,
    message,
    issues: issues.map(({ path, message: text }) => ({
      path: path.map((part) => (typeof part === "symbol" ? String(part) : part)),
      message: text,
    })),
    damagedKey: damagedKeyOf(error),
    owner: ownerOf(source, error),
  };
}

/** Keys of the database itself, and keys in another order, cannot be decoded. */
function damagedKeyOf(error: unknown): StudioError["damagedKey"] {
  if (!isCorruption(error) || error.key === undefined) return null;
  try {
    return decodeKey(error.key);
  } catch {
    return null;
  }
}

function ownerOf({ models }: Source, error: unknown): StudioError["owner"] {
  if (!(error instanceof UniqueConstraintError)) return null;
  const owner = models.find(({ model }) => model.name === error.model);
  if (owner === undefined) return null;
  const { property, model } = owner;
  return { property, key: keyOfId(model, error.ownerId), fields: error.fields };
}
