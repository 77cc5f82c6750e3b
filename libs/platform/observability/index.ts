export * from './health.js';
export { instruments } from './instruments.js';
export { Logger } from './logger.js';
export { NestLogger } from './nest-logger.js';
export { RequestTimes, RouteTimes } from './request-times.js';
export { type PastSpan, type RequestSpan, Tracing } from './tracing.js';
export { ObservabilityModule } from './observability.module.js';
