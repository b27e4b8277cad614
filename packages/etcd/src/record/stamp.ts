/**
 * A versionstamp: a revision of etcd and the position of the commit in its batch. Texts have 16
 * hexadecimal digits for the revision and 4 for the position.
 */
export interface Stamp {
  readonly revision: number;
  readonly position: number;
}

/**
 * The first position of commits whose revision was reserved before they were made. It is stored in
 * their records. The revision of all other commits is the one at which etcd has stored them.
 */
export const firstReservedPosition = 0x8000;

/** The highest position. As that of a state, it stands for all commits of the revision. */
export const lastPosition = 0xffff;

export function formatStamp({ revision, position }: Stamp): string {
  return revision.toString(16).padStart(16, "0") + position.toString(16).padStart(4, "0");
}

export function parseStamp(versionstamp: string): Stamp {
  return {
    revision: Number.parseInt(versionstamp.slice(0, 16), 16),
    position: Number.parseInt(versionstamp.slice(16), 16),
  };
}
