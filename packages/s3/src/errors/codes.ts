/** Every error code of this package. A code never changes its meaning. */
export const s3ErrorCodes = ["KW_S3_REQUEST_FAILED"] as const;

/** A code of {@link s3ErrorCodes}. */
export type S3ErrorCode = (typeof s3ErrorCodes)[number];
