/** Thrown for a part of a manifest that no Zod schema describes. */
export class UnwritableError extends Error {}
