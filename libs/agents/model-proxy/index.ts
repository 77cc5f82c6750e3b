export type {
  Admission,
  ModelAccess,
  ModelReplacement,
  ModelRequest,
  ModelUsage,
  Provider,
  Refusal,
  RefusalReason,
  SeenLimit,
} from './domain/contract.js';
export { ModelProxy, type ModelProxyOptions } from './proxy/model-proxy.js';
