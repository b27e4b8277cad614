export const packageFolders: readonly string[];
export function withMetadata(folder: string): string;
