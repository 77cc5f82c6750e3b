export * from './health/health.js';
export { instruments } from './metrics/instruments.js';
export { announce, Logger } from './logging/logger.js';
export { NestLogger } from './logging/nest-logger.js';
export { RequestTimes, RouteTimes } from './metrics/request-times.js';
export { type PastSpan, type RequestSpan, Tracing } from './tracing/tracing.js';
export { ObservabilityModule } from './observability.module.js';
