/** Every error code of this package. A code never changes its meaning. */
export const etcdErrorCodes = [
  "KW_ETCD_ACCESS_DENIED",
  "KW_ETCD_OUT_OF_SPACE",
  "KW_ETCD_VERSION_UNSUPPORTED",
  "KW_ETCD_COMPACTED",
  "KW_ETCD_REFUSED",
] as const;

/** A code of {@link etcdErrorCodes}. */
export type EtcdErrorCode = (typeof etcdErrorCodes)[number];
