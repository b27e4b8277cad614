export type { EtcdTlsOptions } from "./client/endpoint.js";
export { type EtcdErrorCode, etcdErrorCodes } from "./errors/codes.js";
export {
  EtcdAccessDeniedError,
  EtcdCompactedError,
  EtcdOutOfSpaceError,
  EtcdRefusedError,
  EtcdVersionError,
} from "./errors/etcd-errors.js";
export { type EtcdEngineOptions, etcdEngine } from "./open-etcd.js";
