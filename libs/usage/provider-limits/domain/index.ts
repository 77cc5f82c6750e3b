export {
  DEFAULT_LIMIT_SECONDS,
  LIMIT_KINDS,
  limitedBy,
  type LimitKind,
  type LimitReport,
  MAX_LIMIT_SECONDS,
} from './provider-limit.js';
