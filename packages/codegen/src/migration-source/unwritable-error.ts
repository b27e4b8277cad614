/** A part of a manifest for which there is no Zod schema that could be written. */
export class UnwritableError extends Error {}
