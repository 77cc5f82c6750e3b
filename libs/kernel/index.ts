export * from './assert-never.js';
export * from './backoff.js';
export * from './caller.js';
export * from './doorbell.js';
export * from './errors.js';
export * from './ids.js';
export * from './pagination.js';
export * from './text.js';
