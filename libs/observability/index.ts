export * from './health.js';
export { Logger, type LogFields, type LoggerOptions, type LogLevel } from './logger.js';
export { NestLogger } from './nest-logger.js';
export { ObservabilityModule } from './observability.module.js';
