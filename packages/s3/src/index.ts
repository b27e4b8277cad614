export { type S3ErrorCode, s3ErrorCodes } from "./errors/codes.js";
export { S3RequestError } from "./errors/s3-error.js";
export { type S3Sink, type S3SinkOptions, s3Sink } from "./s3-sink.js";
